"""Alternating block methods that look ahead: extrapolation with a monotone check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import imul, itruediv, mul, truediv
from typing import Any, ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.base import Context, Seen, Solver, Sweep, Update, first_fit
from conicnmf.solve.methods.rebirth import reborn
from conicnmf.solve.methods.revive import revive
from conicnmf.solve.programs.kinks import lower_at_kinks
from conicnmf.types import Array, Factors

_GROW, _CUT, _SPEED_UP_LIMIT = 1.05, 1.5, 1.01


@dataclass(frozen=True, eq=False)
class Pace:
    """How blocks are seen, and the state of the extrapolation: where it looks from, and how far."""

    seen: dict[str, Seen[Any]]
    ahead: Factors = field(default_factory=dict)
    reached: Factors = field(default_factory=dict)
    objective: float = np.inf
    beta: float = 0.5
    ceiling: float = 1.0


@dataclass(frozen=True)
class Extrapolated(Solver[Problem, Pace]):
    """A method that lowers one block after the other and goes on a part of the last change.

    A subclass defines `minimize`, or `update` where it remembers something of a block, and says in a
    setting `extrapolate` whether to look ahead. The part β grows while the objective falls; what
    would raise it is undone, β is cut, and the same iteration is made without looking ahead.

    References
    ----------
    Ang and Gillis, Accelerating NMF algorithms by extrapolation, Neural Computation 2019.
    """

    solves: ClassVar[type[BaseProblem]] = Problem
    majorizations: ClassVar[int] = 1

    @property
    def looks_ahead(self) -> bool:
        """Whether to go on a part of the last change."""
        return bool(getattr(self, "extrapolate", True))

    def minimize(self, held: Subproblem, B: Array) -> tuple[Array, float | None]:
        """Return a better B with the others held, and the block's objective if that is known."""
        raise TypeError(f"{self.name} must define minimize(held, B)")

    def prepare(self, block: Block, context: Context) -> Any:
        """Return what `update` wants to remember of a block, at first nothing; called once."""
        return None

    def update(self, held: Subproblem, B: Array, memo: Any) -> Update[Any]:
        """Return a better B with the others held, by `minimize` where nothing is remembered."""
        new, value = self.minimize(held, B)
        return Update(new, memo, value)

    def goes_beyond(self, seen: Seen[Any]) -> bool:
        """Whether a block may be looked ahead of out of its constraints, which have no projection.

        Its update must not depend on where it begins. It is made last, so that the point ahead serves
        the other blocks alone.
        """
        return False

    def facing(self, block: Block) -> Block:
        """Return the block, majorized where the solver fits only that."""
        return first_fit(self, block)

    def start(self, problem: Problem, context: Context) -> Pace:
        """Begin without a direction to go on in."""
        return Pace({block.name: self.look(block, context) for block in problem.blocks})

    def look(self, block: Block, context: Context | None = None) -> Seen[Any]:
        """Return the block as the solver works on it, prepared."""
        seen = self.facing(block)
        return Seen(seen, self.prepare(seen, context or Context()))

    def sweep(self, problem: Problem, factors: Factors, memo: Pace) -> Sweep[Pace]:
        """Update each variable and look ahead; do it again without that if the objective rose."""
        made = self._sweep(problem, factors, memo)
        undone = made.factors is factors and made.status is None and bool(memo.ahead)
        if not undone or not self.looks_ahead or is_late():
            return made
        # An iteration in which nothing falls would tell stop rules that nothing can.
        plain = self._sweep(problem, factors, replace(made.memo, ahead={}, reached={}))
        return replace(plain, inner=(*made.inner, *plain.inner))

    def _sweep(self, problem: Problem, factors: Factors, memo: Pace) -> Sweep[Pace]:
        """Update each variable and look ahead; undo all of it if the objective rose."""
        ahead, last = memo.ahead or factors, memo.reached or factors
        beta = memo.beta if self.looks_ahead and memo.ahead else 0.0
        lowest, unit = memo.objective, problem.unit
        seen, reached = dict(memo.seen), Factors()
        inner: list[InnerSolve] = []
        at_end = next((b for b in problem.blocks[::-1] if self.goes_beyond(seen[b.name])), None)
        # A stable order: only that one changes its place.
        for block in sorted(problem.blocks, key=lambda block: block is at_end):
            begin = block.rows(last if block is at_end else ahead)
            made = block.given(ahead).lowered_by(self, begin, seen[block.name])
            new, seen[block.name] = made.B, made.memo
            inner += made.inner
            farther = _farther(block, new, block.rows(last), beta, block is at_end)
            block.foresee(new, block.rows(last), farther)
            value = made.value
            if made.status is not None:
                return Sweep(factors, replace(memo, seen=seen), None, made.status, tuple(inner))
            reached |= block.put({}, new)
            before, ahead = ahead, block.put(ahead, farther)
        # The last variable was fitted to the others looking ahead: together they are the iterate.
        found = block.put(before, new)
        if value is not None and len(block.addends) == len(problem.addends):
            objective = problem.total(value - block.penalty(new), found)
        else:
            objective = problem.objective(found)
        if objective > lowest * (1 + 1e-14) + 1e-14 * unit:
            calm = Pace(seen, factors, factors, lowest, beta / _CUT, beta)
            return Sweep(factors, calm, lowest, inner=tuple(inner))
        ceiling = min(1.0, _SPEED_UP_LIMIT * memo.ceiling)
        beta = min(ceiling, _GROW * memo.beta)
        # Factors may be as large as the data: let go of points that are not used again.
        del before, found, new, farther, made
        kept = [*factors.values(), *memo.ahead.values(), *memo.reached.values()]
        remembers = [name for name, own in seen.items() if own.memo is not None]
        kept += [point[name] for point in (ahead, reached) for name in remembers]
        _balance(problem, ahead, reached, kept)
        found = {**ahead, block.name: reached[block.name]}
        alive = _alive(problem, found)
        if alive is not found:
            # A part that is set to zero changes its penalties.
            value = problem.objective(alive)
            if value <= objective + 1e-14 * unit:
                calm = Pace(seen, alive, alive, value, beta, ceiling)
                return Sweep(alive, calm, value, inner=tuple(inner))
        pace = Pace(seen, ahead, reached, objective, beta, ceiling)
        return Sweep(found, pace, objective, inner=tuple(inner))

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return a point where dead components have work, or a lower one at kinks of the loss."""
        return reborn(problem, factors) or lower_at_kinks(problem, factors)

    def again(self, problem: Problem, factors: Factors, memo: Pace, context: Context) -> Pace:
        """Begin anew, and rise no more from there."""
        return replace(self.start(problem, context), objective=problem.objective(factors))

    def pack(self, memo: Pace) -> dict[str, Array]:
        """Return where it looks from and how far, so that a solve goes on to the last bit."""
        points = {"ahead": memo.ahead, "reached": memo.reached}
        arrays = {f"{kind} {name}": X for kind, own in points.items() for name, X in own.items()}
        return arrays | {"pace": np.array([memo.objective, memo.beta, memo.ceiling])}

    def unpack(self, arrays: dict[str, Array], memo: Pace) -> Pace:
        """Return the pace that `pack` wrote."""
        ahead, reached = (
            {name.removeprefix(kind): X for name, X in arrays.items() if name.startswith(kind)}
            for kind in ("ahead ", "reached ")
        )
        return Pace(memo.seen, ahead, reached, *map(float, arrays["pace"]))

    def lower(self, held: Subproblem, B: Array, seen: Seen[Any]) -> Update[Seen[Any]]:
        """Lower a block, through majorizers where the solver fits only those."""
        block, memo = seen.block, seen.memo
        if block.kind is None:
            made = self.update(held, B, memo)
            return Update(made.B, Seen(block, made.memo), made.value, made.status, made.inner)
        inner: list[InnerSolve] = []
        for _ in range(self.majorizations):
            made = self.update(held.majorized(B, block), B, memo)
            B, memo = made.B, made.memo
            inner += made.inner
            if made.status is not None:
                break
        return Update(B, Seen(block, memo), None, made.status, inner)


def _alive(problem: Problem, factors: Factors) -> Factors:
    """Return the factors with something to do for dead components, themselves where none is."""
    for block in problem.blocks:
        factors = revive(problem, block, factors)
    return factors


def _balance(
    problem: Problem, ahead: Factors, reached: Factors, kept: Sequence[Array] = ()
) -> None:
    """Give both parts of a found component the same norm, where only their product counts.

    Extrapolation goes on in any direction that costs nothing, such as W → 0 with H → ∞. Arrays that
    share no memory with those `kept` are overwritten.
    """
    for block, other in problem.scale_free_pairs:
        first, second = block.rows(ahead), other.rows(reached)
        sizes = block.lengths(first), other.lengths(second)
        alive = (sizes[0] > 0) & (sizes[1] > 0)
        shift = np.sqrt(np.divide(sizes[1], sizes[0], out=np.ones_like(sizes[0]), where=alive))
        for own, apart, within in ((block, mul, imul), (other, truediv, itruediv)):
            X, Y = own.rows(ahead), own.rows(reached)
            same = _overlap(X, [Y])
            X = (apart if _overlap(X, kept) else within)(X, shift[:, None])
            Y = X if same else (apart if _overlap(Y, kept) else within)(Y, shift[:, None])
            ahead |= own.put({}, X)
            reached |= own.put({}, Y)


def _overlap(X: Any, others: Iterable[Any]) -> bool:
    """Whether an array may have entries in common with others; strips are never overwritten."""
    arrays = [other for other in others if isinstance(other, np.ndarray)]
    return isinstance(X, np.ndarray) and any(np.may_share_memory(X, other) for other in arrays)


def _farther(block: Block, new: Array, last: Array, beta: float, at_end: bool) -> Array:
    """Go on from the last point through the new one; at the end of an iteration bounds will do."""
    if not beta:
        return new
    if not at_end:
        return block.ahead(new, last, beta)
    return np.clip(new + beta * (new - last), *block.bounds).astype(new.dtype, copy=False)
