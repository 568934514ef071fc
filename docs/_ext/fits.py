"""Which solver fits which kind of problem; run it to print the table that the README has."""

from __future__ import annotations

from conicnmf.blocks import Blocks, blocks_of
from conicnmf.cli.lists import representative_problems
from conicnmf.compat import mismatches
from conicnmf.solvers import SOLVERS, Solver


def fit_table() -> tuple[list[str], list[list[str]]]:
    """Return headers and rows, one row a solver."""
    problems = {name: blocks_of(stated) for name, stated in representative_problems().items()}
    rows = [[kind.__name__, *(_mark(kind(), b) for b in problems.values())] for kind in SOLVERS]
    return ["solver", *problems], rows


def _mark(solver: Solver, blocks: Blocks) -> str:
    # What is not installed on this machine is no property of the solver.
    reasons = [reason for reason in mismatches(blocks, solver) if "installed" not in reason]
    return "·" if reasons else "✓"


def as_markdown(headers: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    ruler = ["---", *(":-:" for _ in headers[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [headers, ruler, *rows])


if __name__ == "__main__":
    print(as_markdown(*fit_table()))
