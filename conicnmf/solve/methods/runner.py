"""A solver on its way from one start, one of several that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.results import History, InnerSolve, Iteration, Status
from conicnmf.solve.methods.base import AnySolver
from conicnmf.solve.methods.point import Point, under
from conicnmf.types import Array

_AGAIN, _EARLY = 3.0, 36.0
"""A runner may still fall by this many times what it fell in the last half of its iterations, or by
the second number over their count where that is more: the first iterations say little.

Chosen by replaying the stored runs of 161 problems of the training half of `benchmarks/grid.py`: 36
and 48 end where waiting for eight iterations does (within one percent of the best solver in 96 %), in
three quarters of its time; with 24 it was 94 %."""


@dataclass(frozen=True, eq=False)
class Runner:
    """A solver on its way from one of the starts; `status` is how it ended, if it did."""

    solver: AnySolver
    memo: Any
    point: Point
    history: History = field(default_factory=History)
    status: Status | None = None
    busy: bool = False

    def onward(self, problem: BaseProblem) -> tuple[Runner, Sequence[InnerSolve]]:
        """Return the runner after one more iteration; its solver's own rule says when it ends."""
        made = self.solver.sweep(problem, self.point.factors, self.memo)
        if not problem.holding.finite(made.factors):
            return replace(self, status=Status.NOT_FINITE), made.inner
        point = Point.of(problem, made)
        self.history.append(
            _line(len(self.history), point.objective, point.violation, not point.rank[0])
        )
        status = made.status or self.solver.default_stop.check(self.history)
        if made.busy and made.status is None and status is not Status.MAX_ITER:
            status = None
        runner = Runner(self.solver, made.memo, point, self.history, status, made.busy)
        return runner, made.inner

    @property
    def lowest(self) -> float:
        """The lowest feasible objective so far, infinite if there is none."""
        return self.history.lowest[-1] if len(self.history) else np.inf

    @property
    def hope(self) -> float:
        """How low the runner may come, if it falls some times as far again as in its last half."""
        passed, lowest = self.history.lowest, self.lowest
        if self.status is not None or not np.isfinite(lowest):
            return lowest
        if self.busy:
            return -np.inf  # what it has come to says little of what it has yet to try
        if len(passed) < 2:
            return -np.inf  # nothing is known yet
        again = max(_AGAIN, _EARLY / len(passed))
        return lowest - again * (passed[(len(passed) - 1) // 2] - lowest)

    def pack(self) -> dict[str, Array]:
        """Return what a checkpoint must hold of the runner."""
        passed = self.history
        lines = np.array([passed.objective, passed.violation, passed.feasible], dtype=float)
        own = {f"memo {name}": X for name, X in self.solver.pack(self.memo).items()}
        return (
            own | self.point.pack() | {"passed": lines, "ended": np.array(self.status is not None)}
        )

    def unpack(self, arrays: dict[str, Array]) -> Runner:
        """Return the runner that was packed, given one of the same solver."""
        passed = [_line(place, *line) for place, line in enumerate(arrays["passed"].T)]
        memo = self.solver.unpack(under("memo ", arrays), self.memo)
        status = Status.CONVERGED if arrays["ended"] else None
        return Runner(self.solver, memo, Point.unpack(arrays), History(passed), status)


def _line(place: int, objective: float, violation: float, feasible: float) -> Iteration:
    """Return an iteration as rules read it."""
    return Iteration(
        place, float(objective), float(violation), 0.0, np.inf, feasible=bool(feasible)
    )
