"""Methods of problems, results and comparisons, bound here so that the layers stay one-way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conicnmf.certify import Certificate, certify
from conicnmf.compare import Comparison
from conicnmf.engine import solve
from conicnmf.errors import InputError
from conicnmf.factorization import as_statement
from conicnmf.problem import Problem, factorize
from conicnmf.result import Result
from conicnmf.selection import Path, RankChoice, Stability
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Problem", "factorize"]


def _solve(self: Problem | Statement, solver: Solver | None = None, **options: Any) -> Result:
    """Solve the problem; see `conicnmf.solve` for the options."""
    return solve(self, solver, **options)


def _explain(self: Problem) -> str:
    """Return which solvers fit, why the others do not, and which one is picked by default."""
    return as_statement(self).explain()


def _certificate(
    self: Result, problem: Problem | Statement | None = None, **tolerances: float
) -> Certificate:
    """Check the result by other routes; a loaded result needs its problem, see `certify`."""
    stated = problem or self.statement
    if stated is None:
        raise InputError(
            "a loaded result does not hold its problem; pass it, result.certificate(problem)"
        )
    return certify(stated, self, **tolerances)


# Reports need matplotlib, which is imported when the first of them is asked for.


def _to_markdown(self: Comparison) -> str:
    """Return the summary as a Markdown table, the best of each problem in bold."""
    from conicnmf.report import to_markdown

    return to_markdown(self)


def _to_latex(self: Comparison) -> str:
    """Return the summary as a LaTeX tabular, for a page with the booktabs package."""
    from conicnmf.report import to_latex

    return to_latex(self)


def _plot_path(self: Path, name: str = "value") -> Figure:
    """Draw error and sparseness along the path."""
    from conicnmf.report import plot_path

    return plot_path(self, name)


def _plot_rank(self: RankChoice) -> Figure:
    """Draw the error of held-out and of fitted entries against the rank."""
    from conicnmf.report import plot_rank

    return plot_rank(self)


def _plot_consensus(self: Stability) -> Figure:
    """Draw how often samples go together, and how well each component is found again."""
    from conicnmf.report import plot_consensus

    return plot_consensus(self)


Comparison.to_markdown = _to_markdown  # type: ignore[method-assign]
Comparison.to_latex = _to_latex  # type: ignore[method-assign]
Path.plot = _plot_path  # type: ignore[method-assign]
RankChoice.plot = _plot_rank  # type: ignore[method-assign]
Stability.plot = _plot_consensus  # type: ignore[method-assign]
Result.certificate = _certificate  # type: ignore[method-assign]
Problem.solve = _solve  # type: ignore[method-assign]
Statement.solve = _solve  # type: ignore[method-assign]
Problem.explain = _explain  # type: ignore[method-assign]
