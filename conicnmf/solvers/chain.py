"""One solver after the other: each goes on from the best point of the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from conicnmf.blocks import Blocks, Factors
from conicnmf.compat import Need
from conicnmf.conic.backends import InnerSolve
from conicnmf.errors import InputError
from conicnmf.solvers.base import Context, Solver, Sweep
from conicnmf.stop import MaxIter, RelDecrease, Stop


@dataclass(frozen=True, eq=False)
class _Stage:
    """Which solver is at work, what it remembers, and the best point so far."""

    number: int
    memo: Any
    best: Factors
    lowest: float = np.inf
    idle: int = 0


@dataclass(frozen=True)
class Chain(Solver):
    """Run the solvers in order, each until it no longer lowers the best objective.

    The usual chain finds a basin with tangent planes, which move all components at once, and
    polishes it with exact component-wise steps.

    Parameters
    ----------
    solvers : tuple of Solver
    rtol : float
        A solver hands over when the best objective fell by less than this part of itself
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

    solvers: tuple[Solver, ...]
    rtol: float = 1e-3
    patience: int = 2

    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5, patience=5)

    def __post_init__(self) -> None:
        if not self.solvers or not all(isinstance(s, Solver) for s in self.solvers):
            raise InputError(f"Chain needs a tuple of solvers, got {self.solvers!r}")

    @property
    def name(self) -> str:
        """The names of the solvers, joined."""
        return " → ".join(solver.name for solver in self.solvers)

    @property
    def needs(self) -> tuple[Need, ...]:  # type: ignore[override]
        """What any of the solvers needs."""
        return tuple(dict.fromkeys(need for solver in self.solvers for need in solver.needs))

    def start(self, blocks: Blocks, context: Context) -> list[Any]:
        """Prepare every solver."""
        return [solver.start(blocks, context) for solver in self.solvers]

    def sweep(self, blocks: Blocks, factors: Factors, memo: Any) -> Sweep:
        """Let the solver at work make one iteration, and hand over when it is idle."""
        memos, stage = memo if isinstance(memo, tuple) else (memo, _Stage(0, memo[0], factors))
        solver = self.solvers[stage.number]
        made = solver.sweep(blocks, factors, stage.memo)
        inner: tuple[InnerSolve, ...] = made.inner
        value = blocks.objective(made.factors) if made.objective is None else made.objective
        improved = value < stage.lowest * (1 - self.rtol * np.sign(stage.lowest))
        best, lowest = stage.best, stage.lowest
        if value < lowest and not blocks.collapsed(made.factors):
            best, lowest = made.factors, value
        idle = 0 if improved else stage.idle + 1
        found, status = made.factors, made.status
        stage = _Stage(stage.number, made.memo, best, lowest, idle)
        last = stage.number == len(self.solvers) - 1
        if not last and (idle >= self.patience or status is not None):
            found, value, status = best, lowest, None
            number = stage.number + 1
            stage = replace(stage, number=number, memo=memos[number], idle=0)
        return Sweep(found, (memos, stage), value, status, inner)
