"""The methods that users find on a problem, bound here so that the layers stay one-way."""

from __future__ import annotations

from typing import Any

from conicnmf.certify import Certificate, certify
from conicnmf.engine import solve
from conicnmf.errors import InputError
from conicnmf.factorization import as_statement
from conicnmf.problem import Problem, factorize
from conicnmf.result import Result
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement

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


Result.certificate = _certificate  # type: ignore[method-assign]
Problem.solve = _solve  # type: ignore[method-assign]
Statement.solve = _solve  # type: ignore[method-assign]
Problem.explain = _explain  # type: ignore[method-assign]
