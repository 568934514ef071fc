"""Time to where some iterations of the cone path end, from the same start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_path import ConePath, Trace
from benchmarks.goals import Ours, iterations_to
from benchmarks.harness import LONG, Row, Runs, Setup, SkippedError, clock, speedup
from conicnmf.types import Array

ITERATIONS, TIE, STATIONARY = 25, 1e-5, 1e-3
"""Where both find the same minimum, differences of the size of `TIE` say nothing."""


@dataclass(eq=False)
class ConeRace:
    """One problem, stated for both sides, with W and H the variables of the cone path.

    The rival's first iteration compiles: it counts as the middle of the others.
    """

    case: str
    problem: cn.Problem
    start: tuple[Array, Array]
    cone: ConePath
    setup: Setup
    longest: float = np.inf
    """Seconds after which the cone path is left where it is."""
    again: bool = True
    """Whether the cone path is timed once more in every turn, where that is not long."""
    trace: Trace = field(init=False)

    def __post_init__(self) -> None:
        both = dict(zip(("W", "H"), self.start, strict=True))
        stated = self.problem.objective(both)
        theirs = self.cone.objective(self._values)
        if not np.isclose(stated, theirs, rtol=1e-9):
            raise RuntimeError(f"{self.case}: ours is {stated} at the start, theirs {theirs}")
        self.trace = self._follow()

    @property
    def _values(self) -> dict[cp.Variable, Array]:
        return dict(zip(self.cone.variables, self.start, strict=True))

    def _follow(self) -> Trace:
        """Go on iteration by iteration: where the rival's solver fails, it ends with the last one."""
        late = self.setup.budget(self.longest)
        trace, begin = Trace(values=self._values), self.setup.timer()
        for _ in range(ITERATIONS):
            try:
                made = self.cone.run(trace.values, 1)
            except (cp.SolverError, RuntimeError, MemoryError):
                break
            trace.values = made.values
            trace.objective += made.objective
            trace.seconds.append(self.setup.timer() - begin)
            if late() and len(trace.seconds) > 1:  # the first one compiles
                break
        if not trace.objective:
            raise SkippedError("the cone path's solver fails at once")
        return trace

    @property
    def goal(self) -> float:
        """Where the cone path ends."""
        return min(self.trace.objective) * (1 + TIE)

    def row(self, at_least: float, converge: bool = False) -> Row:
        """Return how many times faster the default solver is there."""
        ours = Ours(self.problem, self.start)
        ours.run(2)  # compiles
        theirs = _seconds(self.trace)
        path = ours.path(self.setup.budget(1 + 2 * theirs / at_least))
        needed = iterations_to(path, self.goal)
        made = len(self.trace.objective)
        if needed is None:
            excess = path[-1][1] / self.goal - 1
            note = f"ours ended {excess:.2%} above the goal"
            return Row(self.case, ratio=0.0, target=f"≥ {at_least:g}", ok=False, note=note)
        runs = self._race(lambda: ours.run(needed), theirs)
        note = f"iterations {needed} to {made}"
        if made < ITERATIONS:
            note += f", as many as it makes in {clock(self.trace.seconds[-1])}"
        ok = True
        if converge:
            ok, said = self._ends()
            note += f"; {said}"
        return speedup(self.case, *runs, at_least, note, ok)

    def _race(self, ours: Callable[[], object], theirs: float) -> tuple[Runs, Runs]:
        """Time both in turn; what the rival took on its first run counts where that was long."""
        once = theirs > LONG or not self.again
        mine, rival = Runs(), Runs()
        for _ in range(1 if self.setup.quick else 3):
            begin = self.setup.timer()
            ours()
            mine.seconds.append(self.setup.timer() - begin)
            rival.seconds.append(theirs if once else _seconds(self._follow()))
        return mine, rival

    def _ends(self) -> tuple[bool, str]:
        """Return whether the default ends by itself at a point that its certificate holds for."""
        begin = self.setup.timer()
        result = self.problem.solve(init=self.start, throw=False)
        took = self.setup.timer() - begin
        gain = stationarity(result)
        said = f"{result.status.name} after {took:.3g} s, stationary to {gain:.0e}"
        return gain <= STATIONARY, said


def stationarity(result: cn.Result) -> float:
    """Return by which part of the data's size a block could still be lowered, by the certificate."""
    checks = result.certificate().checks
    return max(check.measured for check in checks if check.name.startswith("stationary"))


def _seconds(trace: Trace) -> float:
    """Return the seconds of a course, without what the first iteration compiles."""
    each = np.diff(trace.seconds, prepend=0.0)
    return float(each[1:].sum() + np.median(each[1:] if len(each) > 1 else each))
