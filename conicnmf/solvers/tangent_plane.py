"""Tangent-plane method: reverse-convex blocks as sequences of cone programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.compat import (
    LossWith,
    PenaltiesWith,
    conic_constraints,
    sparseness_on_orthant,
)
from conicnmf.conic.program import BlockProgram
from conicnmf.conic.tangent import TangentLoop, tangent_step, with_interior
from conicnmf.errors import InputError
from conicnmf.result import Status
from conicnmf.solvers.base import Context, Solver, Update
from conicnmf.stop import MaxIter, RelDecrease, Stop


@dataclass(frozen=True)
class TangentPlane(Solver):
    """Solve each block as a convex program, with tangent planes for components not sparse enough.

    Any convex CVXPY constraint or penalty on a factor is allowed. The objective falls within a
    block; over both blocks it may rise, and then the best feasible iterate is returned.

    Parameters
    ----------
    rounds : int
        How often the planes may be moved before the factor is switched.
    rtol : float
        Planes are moved while the objective falls by more than this part of itself.
    backend : str, optional
        An installed CVXPY solver; by default the program is compiled once for Clarabel and
        updated in place. Whatever fails is tried again along ECOS, Clarabel, SCS.

    References
    ----------
    Heiler and Schnörr, Reverse-convex programming for sparse image codes, EMMCVPR 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> bool(cn.sparseness(problem.solve(cn.TangentPlane()).W, axis=0).min() > 0.7 - 1e-6)
    True
    """

    rounds: int = 2
    rtol: float = 1e-3
    backend: str | None = None

    needs: ClassVar = (
        LossWith(("reduced", "expression"), "which a cone program needs"),
        PenaltiesWith("expression", "which a cone program needs"),
        conic_constraints,
        sparseness_on_orthant,
    )
    default_stop: ClassVar[Stop] = MaxIter(100) | RelDecrease(1e-4)

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.rtol < 0:
            raise InputError(
                f"TangentPlane needs rounds >= 1 and rtol >= 0, got rounds={self.rounds}, "
                f"rtol={self.rtol}; the defaults are 2 and 1e-3"
            )

    def prepare(self, block: Block, context: Context) -> tuple[BlockProgram, float]:
        """Set up the block's program."""
        return BlockProgram(with_interior(block), self.backend), context.deadline

    def update(
        self, block: Block, A: Array, B: Array, memo: tuple[BlockProgram, float]
    ) -> Update:
        """Solve the block; keep B when every backend fails."""
        program, deadline = memo
        loop = TangentLoop(self.rounds, self.rtol)
        outcome = tangent_step(program, program.target(A), B, loop, deadline)
        if outcome.B is None:
            return Update(B, memo, status=Status.BACKEND_FAILED, inner=outcome.records)
        # The exact projection removes what an interior-point method leaves of the last digits.
        new = outcome.B if block.projection is None else block.projection(outcome.B)
        return Update(new.astype(B.dtype, copy=False), memo, inner=outcome.records)
