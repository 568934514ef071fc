"""Losses with kinks by way of smooth ones that come ever closer to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeGuard

import numpy as np

from conicnmf.model.addends import Addend, Fit
from conicnmf.model.base import BaseProblem
from conicnmf.model.problem import Problem
from conicnmf.results import Promises
from conicnmf.settings import Count, Weight
from conicnmf.solve.methods.base import AnySolver, Context, Solver, Sweep
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_PARTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""The parts of the mean residual below which residuals count as squares, one after the other."""
_LONGEST = 60
"""Iterations after which the next loss follows, whether or not the last one has settled."""


@dataclass(frozen=True, eq=False)
class _Stage:
    """Which smooth loss it is at, the problem with that loss, and how the solver fares there."""

    context: Context
    number: int = 0
    problem: Problem | None = None
    memo: Any = None
    lowest: float = np.inf
    count: int = 0
    idle: int = 0

    @property
    def last(self) -> bool:
        """Whether there is no closer loss to come."""
        return self.number == len(_PARTS) - 1


@dataclass(frozen=True)
class Smoothing(Solver[Problem, _Stage]):
    """Minimize a sequence of smooth losses that approach a loss with kinks.

    Near a kink, only very steep quadratics lie above the loss, and they allow only short steps.
    Smooth losses allow longer ones. Each solve starts from the result of the previous one. For
    absolute values, the smooth losses are Huber's.

    Parameters
    ----------
    solver : Solver
        The solver that minimizes the smooth losses.
    rtol : float
        The next loss follows once the objective with this one fell by less than this fraction
    patience : int
        in this many iterations in a row.

    References
    ----------
    Nesterov, Smooth minimization of non-smooth functions, Mathematical Programming 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> H = [cn.NonNegative(), cn.Sparseness(min=0.5)]
    >>> problem = cn.factorize(V, 2, H=H, loss="absolute")
    >>> problem.solve(cn.Smoothing(cn.HALS()), init="random").status.kind
    'converged'
    """

    solver: AnySolver
    rtol: Weight = 1e-4
    patience: Count = 3

    solves: ClassVar[type[BaseProblem]] = Problem
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(1000) | RelDecrease(1e-5, patience=5)

    @property
    def name(self) -> str:
        """The name of the solver, and that it sees smooth losses."""
        return f"{self.solver.name} on smooth losses"

    @property
    def promises(self) -> Promises:
        """What the solver promises, but for an objective that never rises."""
        return replace(self.solver.promises, monotone=False)

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why the solver does not fit the problem with a smooth loss."""
        if not has_kinks(problem):
            return ["no loss has kinks that a smooth loss could approximate"]
        return self.solver.mismatches(smoothed(problem))

    def start(self, problem: Problem, context: Context) -> _Stage:
        """Begin with the smoothest loss, which is made when residuals are known."""
        return _Stage(context)

    def sweep(self, problem: Problem, factors: Factors, memo: _Stage) -> Sweep[_Stage]:
        """Let the solver make one iteration; a closer loss follows where that gained little."""
        if memo.problem is None:
            smooth = smoothed(problem, factors, _PARTS[memo.number])
            memo = replace(memo, problem=smooth, memo=self.solver.start(smooth, memo.context))
        assert memo.problem is not None
        made = self.solver.sweep(memo.problem, factors, memo.memo)
        own = made.objective
        own = memo.problem.objective(made.factors) if own is None else own
        falls = own < memo.lowest - self.rtol * abs(memo.lowest) or not np.isfinite(memo.lowest)
        stage = replace(
            memo,
            memo=made.memo,
            lowest=min(own, memo.lowest),
            count=memo.count + 1,
            idle=0 if falls else memo.idle + 1,
        )
        spent = stage.idle >= self.patience or stage.count >= _LONGEST or made.status is not None
        if spent and not memo.last:
            stage = _Stage(memo.context, memo.number + 1)
        status = made.status if memo.last else None
        busy = not memo.last or made.busy
        return replace(made, memo=stage, objective=None, status=status, busy=busy)

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return what the solver would go on from with the closest loss."""
        return self.solver.revived(smoothed(problem, factors, _PARTS[-1]), factors)

    def again(self, problem: Problem, factors: Factors, memo: _Stage, context: Context) -> _Stage:
        """Go on with the closest loss."""
        return _Stage(context, len(_PARTS) - 1)

    def pack(self, memo: _Stage) -> dict[str, Array]:
        """Return at which loss it is."""
        return {"loss": np.array(memo.number)}

    def unpack(self, arrays: dict[str, Array], memo: _Stage) -> _Stage:
        """Go on with that loss."""
        return replace(memo, number=int(arrays["loss"]))


def has_kinks(problem: BaseProblem) -> TypeGuard[Problem]:
    """Return whether a loss has kinks, and smooth losses that come close to it."""
    return isinstance(problem, Problem) and any(
        "smoothed" in fit.loss.abilities for fit in problem.fits
    )


def smoothed(problem: Problem, factors: Factors | None = None, part: float = 1.0) -> Problem:
    """Return the problem with smooth losses in place of those with kinks.

    They are as smooth as a part of the mean residual says, at the factors or of no model at all.
    """
    return Problem.of(
        list(problem.variables.values()),
        [_smooth(addend, factors, part) for addend in problem.addends],
        problem.offset,
    )


def _smooth(addend: Addend, factors: Factors | None, part: float) -> Addend:
    if not isinstance(addend, Fit) or "smoothed" not in addend.loss.abilities:
        return addend
    V = addend.V
    L, R = np.zeros((V.shape[0], 1)), np.zeros((1, V.shape[1]))
    if factors is not None:
        L, R = addend.model(factors)
    return replace(addend, loss=addend.loss.smoothed(V, L, R, part))
