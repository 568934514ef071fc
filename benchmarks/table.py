"""Rows as texts, and as one table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.harness import Row

HEADS = ("id", "case", "ours", "theirs", "ratio", "spread", "target", "met", "note")
_MET = {True: "yes", False: "**no**", None: ""}


def show(rows: Sequence[Row]) -> None:
    """Print the rows as one table."""
    table = Table(*HEADS, header_style="bold")
    for row in rows:
        style = {True: "", False: "red", None: "dim"}[row.ok]
        table.add_row(*(cell.replace("**", "") for cell in cells(row)), style=style)
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def number(ratio: float) -> str:
    """Return a ratio to three digits, large ones as whole numbers.

    Examples
    --------
    >>> number(5543.2), number(0.4412)
    ('5543', '0.441')
    """
    return f"{ratio:.0f}" if 1000 <= ratio < 1e9 else f"{ratio:.3g}"


def cells(row: Row) -> list[str]:
    """Return the texts of a row, column by column."""
    ratio = "" if math.isnan(row.ratio) else number(row.ratio)
    spread = "" if math.isnan(row.spread) else f"{row.spread:.0%}"
    texts = [row.id, row.case, row.ours, row.theirs, ratio, spread, row.target, _MET[row.ok]]
    return [*texts, row.note]
