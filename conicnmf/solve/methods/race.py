"""A race of starts and solvers: who cannot win any more is dropped, and the best one is polished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.results import InnerSolve, Status
from conicnmf.settings import Count, Rule
from conicnmf.solve.deadline import is_late
from conicnmf.solve.guard import is_fault
from conicnmf.solve.methods.base import AnySolver, Context, Solver, Sweep
from conicnmf.solve.methods.point import Point, under
from conicnmf.solve.methods.runner import Runner
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_APART = 1e-2
"""Objectives that differ by less than this part of the lowest are counted as one basin."""
_WORTH = 1e-2
"""A runner that may win by less than this part of the objective is not worth its time."""
_FEW = 6
"""So many runners stay as long as they may win; of more, the worse half is dropped."""


@dataclass(frozen=True, eq=False)
class _Field:
    """The drawn starts, who still runs, and the objectives of those who were dropped."""

    starts: tuple[Factors, ...]
    memos: tuple[tuple[Any, ...], ...]
    runners: tuple[Runner, ...] = ()
    dropped: tuple[float, ...] = ()
    lap: int = 0

    def notes(self) -> dict[str, float]:
        """Return how many still run, and how far apart all have come by their last iteration."""
        points = (runner.point for runner in self.runners)
        values = sorted([*self.dropped, *(p.objective for p in points if not p.rank[0])])
        told = {"runners": float(len(self.runners)), "basins": 0.0, "spread": 0.0}
        if values and values[0]:
            apart = _APART * abs(values[0])
            told["basins"] = 1.0 + sum(b - a > apart for a, b in pairwise(values))
            told["spread"] = (values[-1] - values[0]) / abs(values[0])
        return told


@dataclass(frozen=True)
class Race(Solver[BaseProblem, _Field]):
    """Run several solvers from several starts, drop those that cannot win, and refine the best.

    Problems with reverse-convex constraints have many local minima, and it often shows after some
    iterations which runs will end well. In each iteration of the race, every remaining run makes
    one iteration; runs that have converged wait for the others. A run is dropped as soon as it
    could not overtake the leader even if it fell three times as far as in the last half of its
    iterations; after n < 12 iterations, which say less, 36 / n times as far. If more than six runs
    are left at the end of a round, the worse half is dropped. This depends on iterations, not on
    time, so the same seed gives the same result. The notes of the history give the number of
    remaining runs, how far their objectives are apart (`spread`), and the number of objectives that
    differ by more than one percent (`basins`).

    Parameters
    ----------
    solvers : tuple of Solver
    starts : int or tuple of int
        How many starts each solver runs from: the given one, and random ones. A tuple has a number
        for each solver.
    laps : int
        Iterations of the first round; each round is twice as long as the one before.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> result = problem.solve(cn.Race((cn.HALS(), cn.ProjectedGradient()), starts=(4, 1), laps=5))
    >>> result.history[1].notes["runners"], result.history[-1].notes["runners"]
    (5.0, 1.0)
    """

    solvers: Annotated[
        tuple[AnySolver, ...],
        Rule("and at least one", bool, "write Race((TangentPlane(), HALS()))"),
    ]
    starts: Count | tuple[Count, ...] = 4
    laps: Count = 8

    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(2000) | RelDecrease(1e-5)

    def check_settings(self) -> None:
        """Refuse numbers of starts that are not one for each solver."""
        rule = "one number, or one for each solver"
        self.require(len(self._each) == len(self.solvers), rule, "starts", remedy="write starts=4")

    @property
    def _each(self) -> tuple[int, ...]:
        """From how many starts each solver runs."""
        many = self.starts
        return many if isinstance(many, tuple) else (many,) * len(self.solvers)

    @property
    def name(self) -> str:
        """The names of the solvers, and from how many starts."""
        names, most = " or ".join(solver.name for solver in self.solvers), max(self._each)
        return f"{names} from the best of {most} starts" if most > 1 else names

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why one of the solvers does not fit."""
        found = [reason for solver in self.solvers for reason in solver.mismatches(problem)]
        return list(dict.fromkeys(found))

    def start(self, problem: BaseProblem, context: Context) -> _Field:
        """Draw the other starts, and prepare every solver for each of them."""
        drawn = [problem.start(None, context.rng) for _ in range(max(self._each) - 1)]
        memos = [
            tuple(solver.start(problem, context) for _ in range(starts))
            for solver, starts in zip(self.solvers, self._each, strict=True)
        ]
        return _Field(tuple(drawn), tuple(memos))

    def sweep(self, problem: BaseProblem, factors: Factors, memo: _Field) -> Sweep[_Field]:
        """Let every runner make one iteration, and drop some where a round ends."""
        line = memo if memo.runners else self._lined_up(problem, factors, memo)
        runners, inner = list(line.runners), list[InnerSolve]()
        for place, runner in enumerate(runners):
            # By a rule of its own, the winner may end before the race's rule is met.
            waits = runner.status is not None and len(runners) > 1
            if not waits and not (place and is_late()):
                runners[place], solved = _onward(problem, runner, alone=len(runners) == 1)
                inner += solved
        runners.sort(key=lambda runner: runner.point.rank)
        kept = self._kept(runners, line.lap + 1)
        lost = tuple(r.point.objective for r in runners if r not in kept and not r.point.rank[0])
        onward = replace(line, runners=kept, dropped=line.dropped + lost, lap=line.lap + 1)
        winner, alone = runners[0], len(kept) == 1
        failed = alone and winner.status is not None and winner.status.kind == "failed"
        return Sweep(
            winner.point.factors,
            onward,
            winner.point.objective,
            winner.status if failed else None,
            tuple(inner),
            onward.notes(),
            winner.point.violation,
            busy=not alone or winner.busy,
        )

    def again(
        self, problem: BaseProblem, factors: Factors, memo: _Field, context: Context
    ) -> _Field:
        """Go on with the winner alone."""
        winner = memo.runners[0]
        own = winner.solver.again(problem, factors, winner.memo, context)
        point = Point.of(problem, Sweep(factors, None))
        return replace(memo, runners=(Runner(winner.solver, own, point),))

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
            Runner(self.solvers[number], memo.memos[number][0], nowhere).unpack(
                under(f"{place} ", arrays)
            )
            for place, number in enumerate(which)
        )
        return replace(memo, runners=runners, dropped=tuple(map(float, arrays["dropped"])), lap=lap)

    def _lined_up(self, problem: BaseProblem, factors: Factors, memo: _Field) -> _Field:
        """Put every solver at every start."""
        points = [Point.of(problem, Sweep(X, None)) for X in (factors, *memo.starts)]
        runners = [
            Runner(solver, own, point)
            for solver, memos in zip(self.solvers, memo.memos, strict=True)
            for own, point in zip(memos, points, strict=False)
        ]
        return replace(memo, starts=(), runners=tuple(runners))

    def _kept(self, runners: Sequence[Runner], lap: int) -> tuple[Runner, ...]:
        """Return who goes on: those who may win, and one when all have ended.

        The runners are given in their order; the first of them leads.
        """
        if all(runner.status is not None for runner in runners):
            return tuple(runners[:1])
        if len(runners) == 1:
            return tuple(runners)
        leader, *others = runners
        wanted = leader.lowest - _WORTH * abs(leader.lowest)
        able = (leader, *(r for r in others if r.hope < wanted or leader.point.rank[0]))
        rounds, rest = divmod(lap, self.laps)
        # Rounds end after 1, 2, 4, … times the first one's length.
        ends = rest == 0 and rounds.bit_count() == 1
        return able[: max(_FEW, (len(able) + 1) // 2)] if ends else able


def _onward(
    problem: BaseProblem, runner: Runner, alone: bool
) -> tuple[Runner, Sequence[InnerSolve]]:
    """Return the runner after one more iteration; one that raises ends, where others still run."""
    try:
        return runner.onward(problem)
    except BaseException as error:
        if alone or not is_fault(error):
            raise
        return replace(runner, status=Status.ERROR), ()
