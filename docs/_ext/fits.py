"""Which solver fits which kind of problem; run it to print the table that the README has."""

from __future__ import annotations

from conicnmf.blocks import blocks_of
from conicnmf.cli.lists import representative_problems
from conicnmf.compat import mismatches
from conicnmf.solvers import SOLVERS


def fit_table() -> tuple[list[str], list[list[str]]]:
    """Return headers and rows, one row a solver."""
    problems = {name: blocks_of(stated) for name, stated in representative_problems().items()}
    rows = []
    for kind in SOLVERS:
        # What is not installed on this machine is no property of the solver.
        reasons = [[r for r in mismatches(b, kind()) if "installed" not in r] for b in problems.values()]
        rows.append([kind.__name__, *("·" if found else "✓" for found in reasons)])
    return ["solver", *problems], rows


def as_markdown(headers: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    ruler = ["---", *(":-:" for _ in headers[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [headers, ruler, *rows])


if __name__ == "__main__":
    print(as_markdown(*fit_table()))
