"""The table of all rows, for the terminal and for the documentation."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.harness import Row
from benchmarks.limits import LIMITS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
_HEADS = ("id", "case", "ours", "theirs", "ratio", "spread", "target", "met", "note")
_PEERS = ("conicnmf", "numpy", "scipy", "numba", "cvxpy", "clarabel", "scikit-learn")
_MET = {True: "yes", False: "**no**", None: ""}


def show(rows: Sequence[Row]) -> None:
    """Print the rows as one table."""
    table = Table(*_HEADS, header_style="bold")
    for row in rows:
        style = {True: "", False: "red", None: "dim"}[row.ok]
        table.add_row(*(cell.replace("**", "") for cell in cells(row)), style=style)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def write(rows: Sequence[Row], titles: Mapping[str, str], how: str, path: Path = PAGE) -> None:
    """Write the rows as a page of the documentation; `how` says how they were measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in _PEERS)
    lines = [
        "# Benchmarks",
        "",
        "Ratios of one run of `python -m benchmarks`: both sides take turns, the median of the",
        "repeats counts, all have one thread, and first calls, which compile, are left out. The",
        "spread is the range of the ratios over their median. Where a row has no target, the ratio",
        "is there to be read.",
        "",
        f"Measured in {how}, on {platform.machine()} with Python {platform.python_version()}, "
        f"{versions}.",
        "",
        *(f"- **{name}**: {title}" for name, title in titles.items()),
        "",
        f"| {' | '.join(_HEADS)} |",
        f"|{'---|' * len(_HEADS)}",
        *(f"| {' | '.join(cells(row))} |" for row in rows),
        "",
        *_missed(rows),
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def _missed(rows: Sequence[Row]) -> list[str]:
    """Return a section on the targets that are missed: which, where the time goes, what limits it."""
    missed: dict[str, list[str]] = {}
    for row in rows:
        if row.ok is False:
            missed.setdefault(row.id, []).append(row.case)
    if not missed:
        return ["All targets are met.", ""]
    lines = [
        f"- **{name}** ({'; '.join(cases)}). {LIMITS.get(name, 'Not profiled.')}"
        for name, cases in missed.items()
    ]
    return ["## Where a target is missed", "", *lines, ""]


def cells(row: Row) -> list[str]:
    """Return the texts of a row, column by column."""
    ratio = "" if math.isnan(row.ratio) else f"{row.ratio:.3g}"
    spread = "" if math.isnan(row.spread) else f"{row.spread:.0%}"
    texts = [row.id, row.case, row.ours, row.theirs, ratio, spread, row.target, _MET[row.ok]]
    return [*texts, row.note]
