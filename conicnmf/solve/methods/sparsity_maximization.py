"""Sparsity maximization: sharpen the components at no cost, then lower the cost safely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Penalty
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import InnerSolve
from conicnmf.settings import Count, Weight
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.base import BlockSolver, Context, Engine, Update
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    bounded_gains,
    cones_on_orthant,
    conic_constraints,
    uncapped,
)
from conicnmf.solve.programs.backends import Backend
from conicnmf.solve.programs.closing import Closing
from conicnmf.solve.programs.domain import kept_finite
from conicnmf.solve.programs.lightest import lightest
from conicnmf.solve.programs.native import native_reasons
from conicnmf.solve.programs.native_sharpen import NativeSharpener, NativeSharpenStep
from conicnmf.solve.programs.sharpen import (
    ConicSharpener,
    ConicSharpenStep,
    Form,
    Linear,
    sparseness_bounds,
)
from conicnmf.solve.programs.tangent import convex_part, with_interior
from conicnmf.solve.starts.search import ConeSearch, unsearchable
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array


@dataclass(frozen=True)
class _Memo:
    """A block's programs, the way to its constraints, and whether it has yet to be visited."""

    sharpener: ConicSharpener | NativeSharpener
    closing: Closing
    rng: np.random.Generator
    rewards: tuple[Penalty, ...] = ()
    fresh: bool = True


@dataclass(frozen=True)
class SparsityMaximization(BlockSolver[_Memo]):
    """Alternate two convex programs in each block; the objective never rises over W and H.

    The first makes the least sparse component sparser without raising the objective. The second
    lowers the objective while each component stays in a ball that contains only sparse vectors.
    Other reverse-convex constraints are treated in the same way with their tangents, and penalties
    that are not convex are linearized.

    Parameters
    ----------
    rounds : int
        How many times the two steps are repeated before the other factor's turn.
    rtol : float
        They are repeated while the objective falls by more than this fraction.
    form : {"gauge", "taylor"}
        What is linearized in the first step: the convex gauge of the cone, whose linearization
        keeps every component feasible, or the sparseness itself, with back-tracking.
    engine : {"auto", "native", "conic"}
        "native" takes steps with the same guarantees without a cone solver; it needs constraints
        that it knows. "auto" uses it if possible.
    backend : str, optional
        An installed CVXPY solver for the conic engine.
    search : ConeSearch, optional
        Sample the sparseness cones round the present point in each visit of a block with a lower
        bound on sparseness, and begin from the best combination too, as in Section 6.2 of the
        paper. For few components; `certificate(budget=…)` tells whether blocks are then at a
        global minimum.

    References
    ----------
    Heiler and Schnörr, Reverse-convex programming for sparse image codes, EMMCVPR 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> result = problem.solve(cn.SparsityMaximization())
    >>> bool((np.diff(result.history.objective) <= 0).all())
    True
    """

    rounds: Count = 1
    rtol: Weight = 1e-3
    form: Form = "gauge"
    engine: Engine = "auto"
    backend: Backend = None
    search: ConeSearch | None = None

    needs: ClassVar = (
        uncapped,
        LossWith(("reduced", "expression"), "which a cone program needs"),
        PenaltiesWith(("expression", "slope"), "which a cone program needs"),
        conic_constraints,
        bounded_gains,
        cones_on_orthant,
    )
    default_stop: ClassVar[Stop] = MaxIter(200) | RelDecrease(1e-4)

    def unmet(self, part: Block | BaseProblem) -> list[str]:
        """Return every need that a block does not meet, those of a search among them."""
        found = super().unmet(part)
        if self.search is None or not isinstance(part, Block):
            return found
        return [*found, *unsearchable(part)]

    def facing(self, block: Block) -> Block:
        """Return the block or a majorized one, whichever has the lightest programs."""
        return lightest(self, block, lambda seen: self._is_native(with_interior(seen)))

    def _is_native(self, block: Block) -> bool:
        plain = self.backend is None and self.form == "gauge"
        wanted = self.engine == "native" or (self.engine == "auto" and plain)
        return wanted and not any(native_reasons(block))

    def prepare(self, block: Block, context: Context) -> _Memo:
        """Set up the block's programs."""
        closing = Closing(block)
        block, rewards = convex_part(block)
        native = self._is_native(block) and not rewards
        kind = NativeSharpener(block) if native else self._conic(block)
        return _Memo(kind, closing, context.rng, rewards)

    def _conic(self, block: Block) -> ConicSharpener:
        return ConicSharpener(block, self.form, self.backend)

    def _sharpener(self, B: Array, memo: _Memo) -> ConicSharpener | NativeSharpener:
        """Return the programs of the block, with penalties that are not convex linearized at B."""
        if not memo.rewards:
            return memo.sharpener
        block = memo.sharpener.block
        linear = Linear(np.add.reduce([reward.slope(B) for reward in memo.rewards]))
        return self._conic(replace(block, penalties=(*block.penalties, linear)))

    def update(self, held: Subproblem, B: Array, memo: _Memo) -> Update[_Memo]:
        """Sharpen and relax, never accepting a higher objective."""
        block = held.block
        sharpener = self._sharpener(B, memo)
        step = sharpener.at(held.on(sharpener.block))
        value_of = held.objective if memo.rewards else step.value
        records: list[InnerSolve] = []
        best, value = B, value_of(B)
        if memo.fresh and block.projection is not None:
            # Only the first visit may leave the current point, for the projected convex optimum.
            convex, records = step.convex()
            near = None if convex is None else block.projection(convex)
            if near is not None and not block.collapsed(near) and value_of(near) < value:
                best, value = near, value_of(near)
        if self.search is not None and sparseness_bounds(block):
            sampled = self.search.near(held, best, memo.rng)
            new, more = _one_round(block, step, sampled, memo.closing)
            records = [*records, *more]
            if new is not None:
                new, found = kept_finite(value_of, best, new)
                best, value = (new, found) if found < value else (best, value)
        for _ in range(self.rounds):
            new, tried = _one_round(block, step, best, memo.closing)
            records += tried
            if new is None:
                break
            new, found = kept_finite(value_of, best, new)
            if not found < value:
                break
            fell = value - found
            best, value = new, found
            if fell <= self.rtol * abs(value) or is_late():
                break
        memo = replace(memo, fresh=False)
        return Update(best.astype(B.dtype, copy=False), memo, value, inner=records)


def _one_round(
    block: Block, step: ConicSharpenStep | NativeSharpenStep, B: Array, closing: Closing
) -> tuple[Array | None, list[InnerSolve]]:
    """Return a feasible point of lower objective, or nothing when a program fails."""
    if block.reverse_convex:
        sharp, records = step.sharpen(B)
        if sharp is None:
            return None, records
        new, more = step.relax(sharp)
        records = records + more
    else:
        new, records = step.convex()
    if new is None or (not block.reverse_convex and block.violation(new) <= FEASIBLE):
        return new, records
    # Pieces that are next to nothing have their own size, of which a backend sees too little.
    settled = closing.settle(new.astype(B.dtype, copy=False), B)
    near = settled.B
    fits = near is not None and not block.collapsed(near) and block.violation(near) <= FEASIBLE
    return near if fits else None, [*records, *settled.records]
