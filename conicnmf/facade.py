"""The methods that users find on a `Problem`, bound here so that the layers stay one-way."""

from __future__ import annotations

from typing import Any

from conicnmf.blocks import blocks_of
from conicnmf.certify import Certificate, certify
from conicnmf.compat import explain
from conicnmf.engine import solve
from conicnmf.errors import InputError
from conicnmf.problem import Problem, factorize
from conicnmf.result import Result
from conicnmf.solvers import SOLVERS, choose
from conicnmf.solvers.base import Solver

__all__ = ["Problem", "factorize"]


def _solve(self: Problem, solver: Solver | None = None, **options: Any) -> Result:
    """Solve the problem; see `conicnmf.solve` for the options."""
    return solve(self, solver, **options)


def _explain(self: Problem) -> str:
    """Return which solvers fit, why the others do not, and which one is picked by default."""
    blocks = blocks_of(self)
    chosen, why = choose(blocks)
    default = f"Without a solver named, {chosen.name} is picked: {why}."
    return explain(blocks, [kind() for kind in SOLVERS], default)


def _certificate(self: Result, problem: Problem | None = None, **tolerances: float) -> Certificate:
    """Check the result by other routes; a loaded result needs its problem, see `certify`."""
    stated = problem or self.statement
    if stated is None:
        raise InputError(
            "a loaded result does not hold its problem; pass it, result.certificate(problem)"
        )
    return certify(stated, self, **tolerances)


Result.certificate = _certificate  # type: ignore[method-assign]
Problem.solve = _solve  # type: ignore[method-assign]
Problem.explain = _explain  # type: ignore[method-assign]
