"""Which solver fits which kind of problem; run it to print the table that the README has."""

from __future__ import annotations

from conicnmf.cli.lists import representative_problems
from conicnmf.model.problem import Problem
from conicnmf.solve.choice import known_solvers
from conicnmf.solve.methods.base import AnySolver


def fit_table() -> tuple[list[str], list[list[str]]]:
    """Return headers and rows, one row a solver."""
    problems = representative_problems()
    solvers = known_solvers(problems["plain"])
    rows = [[solver.name, *(_mark(solver, p) for p in problems.values())] for solver in solvers]
    return ["solver", *problems], rows


def _mark(solver: AnySolver, problem: Problem) -> str:
    # What is not installed on this machine is no property of the solver.
    reasons = [reason for reason in solver.mismatches(problem) if "installed" not in reason]
    return "·" if reasons else "✓"


def as_markdown(headers: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    ruler = ["---", *(":-:" for _ in headers[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [headers, ruler, *rows])


if __name__ == "__main__":
    print(as_markdown(*fit_table()))
