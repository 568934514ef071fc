"""The directive ``verdict-table``: the verdict of each experiment whose results are in results/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from table_node import table_node

RESULTS = Path(__file__).parents[1] / "results"


class VerdictTable(SphinxDirective):
    """A table of the experiments, read from their pages."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        from experiments import EXPERIMENTS

        rows = []
        for name, experiment in EXPERIMENTS.items():
            page = RESULTS / name / "table.md"
            if page.exists():
                self.env.note_dependency(str(page))
                text = page.read_text(encoding="utf-8")
                verdict, reason = re.findall(
                    r"^\*\*Verdict: (\w+)\.\*\* (.*)$", text, re.MULTILINE
                )[0]
                rows.append([name, verdict, experiment.published, reason])
        return [table_node(["experiment", "verdict", "published", "measured"], rows)]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("verdict-table", VerdictTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
