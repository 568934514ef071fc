"""An iterate with its measures, for solvers that compare iterates of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import Sweep
from conicnmf.types import Array, Factors


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

    def pack(self) -> dict[str, Array]:
        """Return the point for a checkpoint."""
        measures = np.array([self.objective, self.violation, *self.rank], dtype=float)
        return {"measures": measures} | {f"at {name}": X for name, X in self.factors.items()}

    @classmethod
    def unpack(cls, arrays: dict[str, Array]) -> Point:
        """Return the point that was packed."""
        objective, violation, infeasible, value = map(float, arrays["measures"])
        return cls(under("at ", arrays), objective, violation, (bool(infeasible), value))


def under(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): X for name, X in arrays.items() if name.startswith(prefix)}
