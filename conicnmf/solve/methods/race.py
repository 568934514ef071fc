"""A race of starts and solvers: all run a few iterations, the worse half is dropped, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.results import History, InnerSolve, Iteration, Status
from conicnmf.settings import Count, Rule
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.base import AnySolver, Context, Solver, Sweep
from conicnmf.solve.methods.point import Point
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_APART = 1e-2
"""Objectives that differ by less than this part of the lowest are counted as one basin."""


@dataclass(frozen=True, eq=False)
class _Runner:
    """A solver on its way from one of the starts; `status` is how it ended, if it did."""

    solver: AnySolver
    memo: Any
    point: Point
    history: History = field(default_factory=History)
    status: Status | None = None

    def onward(self, problem: BaseProblem) -> tuple[_Runner, Sequence[InnerSolve]]:
        """Return the runner after one more iteration; its solver's own rule says when it ends."""
        made = self.solver.sweep(problem, self.point.factors, self.memo)
        if not problem.holding.finite(made.factors):
            return replace(self, status=Status.NOT_FINITE), made.inner
        point = Point.of(problem, made)
        self.history.append(
            _line(len(self.history), point.objective, point.violation, not point.rank[0])
        )
        status = made.status or self.solver.default_stop.check(self.history)
        return _Runner(self.solver, made.memo, point, self.history, status), made.inner

    def pack(self) -> dict[str, Array]:
        """Return what a checkpoint must hold of the runner."""
        point, passed = self.point, self.history
        lines = np.array([passed.objective, passed.violation, passed.feasible], dtype=float)
        own = {f"memo {name}": X for name, X in self.solver.pack(self.memo).items()}
        own |= {f"at {name}": X for name, X in point.factors.items()}
        measures = point.objective, point.violation, *point.rank, self.status is not None
        return own | {"passed": lines, "measures": np.array(measures, dtype=float)}

    def unpack(self, arrays: dict[str, Array]) -> _Runner:
        """Return the runner that was packed, given one of the same solver."""
        objective, violation, infeasible, value, ended = map(float, arrays["measures"])
        point = Point(_under("at ", arrays), objective, violation, (bool(infeasible), value))
        passed = [_line(place, *line) for place, line in enumerate(arrays["passed"].T)]
        memo = self.solver.unpack(_under("memo ", arrays), self.memo)
        status = Status.CONVERGED if ended else None
        return _Runner(self.solver, memo, point, History(passed), status)


def _line(place: int, objective: float, violation: float, feasible: float) -> Iteration:
    """Return an iteration as rules read it."""
    return Iteration(
        place, float(objective), float(violation), 0.0, np.inf, feasible=bool(feasible)
    )


def _under(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): X for name, X in arrays.items() if name.startswith(prefix)}


@dataclass(frozen=True, eq=False)
class _Field:
    """The drawn starts, who still runs, and the objectives of those who were dropped."""

    starts: tuple[Factors, ...]
    memos: tuple[tuple[Any, ...], ...]
    runners: tuple[_Runner, ...] = ()
    dropped: tuple[float, ...] = ()
    lap: int = 0

    def notes(self) -> dict[str, float]:
        """Return how many still run, and how far apart all have come by their last iteration."""
        points = (runner.point for runner in self.runners)
        values = np.sort([*self.dropped, *(p.objective for p in points if not p.rank[0])])
        told = {"runners": float(len(self.runners)), "basins": 0.0, "spread": 0.0}
        if len(values) and values[0]:
            apart = np.diff(values) > _APART * abs(values[0])
            told["basins"] = 1.0 + float(apart.sum())
            told["spread"] = float((values[-1] - values[0]) / abs(values[0]))
        return told


@dataclass(frozen=True)
class Race(Solver[BaseProblem, _Field]):
    """Run several solvers from several starts, drop the worse half again and again, polish the best.

    Problems with reverse-convex constraints have many basins, and which one a run ends in often
    shows after some iterations. One iteration of the race is one of everybody who still runs; who
    has converged waits for the others. Iterations decide, not the clock, so the same seed gives the
    same answer. The notes of the history say how many still run, how far apart the runs have come
    (`spread`), and in how many places that differ by more than one percent (`basins`).

    Parameters
    ----------
    solvers : tuple of Solver
    starts : int
        How many starts each solver runs from: the given one, and others that are drawn.
    laps : int
        Iterations of the first round. At the end of a round the worse half of the runners is
        dropped, and the next round is twice as long, so that rounds cost the same.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> result = problem.solve(cn.Race((cn.HALS(),), starts=4, laps=5))
    >>> result.history[1].notes["runners"], result.history[-1].notes["runners"]
    (4.0, 1.0)
    """

    solvers: Annotated[
        tuple[AnySolver, ...],
        Rule("and at least one", bool, "write Race((TangentPlane(), HALS()))"),
    ]
    starts: Count = 4
    laps: Count = 20

    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5, patience=5)

    @property
    def name(self) -> str:
        """The names of the solvers, and from how many starts."""
        names = " or ".join(solver.name for solver in self.solvers)
        return f"{names} from the best of {self.starts} starts" if self.starts > 1 else names

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why one of the solvers does not fit."""
        found = [reason for solver in self.solvers for reason in solver.mismatches(problem)]
        return list(dict.fromkeys(found))

    def start(self, problem: BaseProblem, context: Context) -> _Field:
        """Draw the other starts, and prepare every solver for each of them."""
        drawn = [problem.start(None, context.rng) for _ in range(self.starts - 1)]
        memos = [
            tuple(solver.start(problem, context) for _ in range(self.starts))
            for solver in self.solvers
        ]
        return _Field(tuple(drawn), tuple(memos))

    def sweep(self, problem: BaseProblem, factors: Factors, memo: _Field) -> Sweep[_Field]:
        """Let every runner make one iteration, and drop the worse half where a round ends."""
        line = memo if memo.runners else self._lined_up(problem, factors, memo)
        runners, inner = list(line.runners), list[InnerSolve]()
        for place, runner in enumerate(runners):
            waits = runner.status is not None and len(runners) > 1
            if not waits and not (place and is_late()):
                runners[place], solved = runner.onward(problem)
                inner += solved
        runners.sort(key=lambda runner: runner.point.rank)
        kept = self._kept(runners, line.lap + 1)
        lost = tuple(r.point.objective for r in runners[kept:] if not r.point.rank[0])
        onward = replace(
            line, runners=tuple(runners[:kept]), dropped=line.dropped + lost, lap=line.lap + 1
        )
        winner = runners[0]
        ended = kept == 1 and winner.status is not None and winner.status.kind == "failed"
        return Sweep(
            winner.point.factors,
            onward,
            winner.point.objective,
            winner.status if ended else None,
            tuple(inner),
            onward.notes(),
            winner.point.violation,
            busy=kept > 1,
        )

    def again(
        self, problem: BaseProblem, factors: Factors, memo: _Field, context: Context
    ) -> _Field:
        """Go on with the winner alone."""
        winner = memo.runners[0]
        own = winner.solver.again(problem, factors, winner.memo, context)
        point = Point.of(problem, Sweep(factors, None))
        return replace(memo, runners=(_Runner(winner.solver, own, point),))

    def revived(self, problem: BaseProblem, factors: Factors) -> Factors | None:
        """Return what one of the solvers would go on from."""
        better = (solver.revived(problem, factors) for solver in self.solvers)
        return next((found for found in better if found is not None), None)

    def pack(self, memo: _Field) -> dict[str, Array]:
        """Return where every runner is, and what the dropped ones had come to."""
        which = [self.solvers.index(runner.solver) for runner in memo.runners]
        packed = {
            f"{place} {name}": X
            for place, runner in enumerate(memo.runners)
            for name, X in runner.pack().items()
        }
        known = {"race": [memo.lap, *which], "dropped": memo.dropped}
        return packed | {name: np.array(values, dtype=float) for name, values in known.items()}

    def unpack(self, arrays: dict[str, Array], memo: _Field) -> _Field:
        """Return the race that `pack` wrote; one that had not begun begins now."""
        lap, *which = map(int, arrays["race"])
        if not which:
            return memo
        nowhere = Point({}, np.inf, np.inf, (True, np.inf))
        runners = tuple(
            _Runner(self.solvers[number], memo.memos[number][0], nowhere).unpack(
                _under(f"{place} ", arrays)
            )
            for place, number in enumerate(which)
        )
        return replace(memo, runners=runners, dropped=tuple(map(float, arrays["dropped"])), lap=lap)

    def _lined_up(self, problem: BaseProblem, factors: Factors, memo: _Field) -> _Field:
        """Put every solver at every start."""
        points = [Point.of(problem, Sweep(X, None)) for X in (factors, *memo.starts)]
        runners = [
            _Runner(solver, own, point)
            for solver, memos in zip(self.solvers, memo.memos, strict=True)
            for own, point in zip(memos, points, strict=True)
        ]
        return replace(memo, starts=(), runners=tuple(runners))

    def _kept(self, runners: Sequence[_Runner], lap: int) -> int:
        """Return how many go on: the better half at the end of a round, one when all have ended."""
        if all(runner.status is not None for runner in runners):
            return 1
        rounds, rest = divmod(lap, self.laps)
        # Rounds of 1, 2, 4, … times the first one's length end after 1, 3, 7, … of it.
        ends = rest == 0 and (rounds + 1).bit_count() == 1
        return (len(runners) + 1) // 2 if ends else len(runners)
