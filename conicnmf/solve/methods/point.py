"""An iterate with its measures, for solvers that compare iterates of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import Sweep
from conicnmf.types import Factors


@dataclass(frozen=True, eq=False)
class Point:
    """An iterate and its measures; `rank` orders iterates, feasible ones first."""

    factors: Factors
    objective: float
    violation: float
    rank: tuple[bool, float]

    @classmethod
    def of(cls, problem: BaseProblem, made: Sweep[Any]) -> Point:
        """Return where an iteration has come to; what the solver has measured is not measured again."""
        X = made.factors
        objective = problem.objective(X) if made.objective is None else made.objective
        violation = problem.violation(X) if made.violation is None else made.violation
        return cls(X, objective, violation, problem.rank_of(X, objective, violation))
