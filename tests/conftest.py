"""What holds for all tests: where the data are, and a list of what was skipped."""

from __future__ import annotations

import os
from pathlib import Path

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if _DATA.is_dir():  # before conicnmf is imported, and for the processes that tests start
    os.environ.setdefault("CONICNMF_DATA", str(_DATA))


def pytest_terminal_summary(terminalreporter):
    """Write why tests were skipped to the file that CONICNMF_SKIPS names, one reason a line."""
    path = os.environ.get("CONICNMF_SKIPS")
    if path:
        skipped = terminalreporter.stats.get("skipped", [])
        lines = [f"{report.longrepr[2]} ({report.nodeid})\n" for report in skipped]
        Path(path).write_text("".join(lines), encoding="utf-8")
