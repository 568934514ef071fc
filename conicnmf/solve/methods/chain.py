"""One solver after the other: each continues from the best point of the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.results import Promises
from conicnmf.settings import Count, Rule, Weight
from conicnmf.solve.methods.base import AnySolver, Context, Solver, Sweep
from conicnmf.solve.methods.point import Point, under
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False)
class _Stage:
    """Which solver is at work, what it remembers, and the best point so far.

    A solver is started when its turn comes: many chains end before the last one, whose code need
    not be compiled then.
    """

    problem: BaseProblem
    context: Context
    number: int
    memo: Any
    best: Point | None = None
    idle: int = 0


@dataclass(frozen=True)
class Chain(Solver[BaseProblem, _Stage]):
    """Run the solvers in order, each until it no longer lowers the best feasible objective.

    The usual chain finds a good region with tangent planes, which move all components at once, and
    refines the result with exact component-wise steps.

    Parameters
    ----------
    solvers : tuple of Solver
    rtol : float
        The next solver takes over once the best objective fell by less than this fraction
    patience : int
        in this many iterations in a row.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> problem.solve(cn.Chain((cn.TangentPlane(), cn.HALS()))).status.kind
    'converged'
    """

    solvers: Annotated[
        tuple[AnySolver, ...],
        Rule("and at least one", bool, "write Chain((TangentPlane(), HALS()))"),
    ]
    rtol: Weight = 1e-3
    patience: Count = 2

    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5, patience=5)

    @property
    def name(self) -> str:
        """The names of the solvers, joined."""
        return " → ".join(solver.name for solver in self.solvers)

    @property
    def promises(self) -> Promises:
        """What all of the solvers promise: each begins at the best point of the one before."""
        monotone = all(solver.promises.monotone for solver in self.solvers)
        return replace(super().promises, monotone=monotone)

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why one of the solvers does not fit."""
        found = [reason for solver in self.solvers for reason in solver.mismatches(problem)]
        return list(dict.fromkeys(found))

    def revived(self, problem: BaseProblem, factors: Factors) -> Factors | None:
        """Return what the last solver would go on from."""
        return self.solvers[-1].revived(problem, factors)

    def start(self, problem: BaseProblem, context: Context) -> _Stage:
        """Prepare the first solver."""
        return self._started(0, problem, context)

    def again(
        self, problem: BaseProblem, factors: Factors, memo: _Stage, context: Context
    ) -> _Stage:
        """Go on with the first solver."""
        first = self.start(problem, context)
        own = memo.memo if memo.number == 0 else first.memo
        return replace(first, memo=self.solvers[0].again(problem, factors, own, context))

    def sweep(self, problem: BaseProblem, factors: Factors, memo: _Stage) -> Sweep[_Stage]:
        """Let the current solver make one iteration, and switch to the next when it is idle."""
        at = memo.number
        made = self.solvers[at].sweep(problem, factors, memo.memo)
        point = Point.of(problem, made)
        best = memo.best if memo.best is not None and memo.best.rank <= point.rank else point
        stage = replace(
            memo,
            memo=made.memo,
            best=best,
            idle=0 if self._improves(point, memo.best) else memo.idle + 1,
        )
        done = (stage.idle >= self.patience and not made.busy) or made.status is not None
        if not done or at == len(self.solvers) - 1:
            return replace(made, memo=stage, objective=point.objective, violation=point.violation)
        onward = replace(self._started(at + 1, problem, memo.context), best=best)
        return Sweep(
            best.factors, onward, best.objective, None, made.inner, violation=best.violation
        )

    def _started(self, number: int, problem: BaseProblem, context: Context) -> _Stage:
        """Return the stage of a solver whose turn comes."""
        return _Stage(problem, context, number, self.solvers[number].start(problem, context))

    def pack(self, memo: _Stage) -> dict[str, Array]:
        """Return which solver is at work, what it remembers, and the best point so far."""
        own = self.solvers[memo.number].pack(memo.memo)
        packed = {"stage": np.array([memo.number, memo.idle])}
        packed |= {f"memo {name}": X for name, X in own.items()}
        return packed | ({} if memo.best is None else memo.best.pack())

    def unpack(self, arrays: dict[str, Array], memo: _Stage) -> _Stage:
        """Return the stage that `pack` wrote."""
        number, idle = map(int, arrays["stage"])
        stage = self._started(number, memo.problem, memo.context)
        own = self.solvers[number].unpack(under("memo ", arrays), stage.memo)
        best = Point.unpack(arrays) if "measures" in arrays else None
        return replace(stage, memo=own, best=best, idle=idle)

    def _improves(self, point: Point, best: Point | None) -> bool:
        """Whether a point is the first of all, the first feasible one, or lower by enough."""
        if best is None or point.rank[0] != best.rank[0]:
            return best is None or point.rank < best.rank
        return point.rank[1] < best.rank[1] - self.rtol * abs(best.rank[1])
