"""A block with the other variables held: what one step of an alternating method solves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from conicnmf.model.addends import PenaltyView, View
from conicnmf.model.terms import Quadratic, Reduced, Separable
from conicnmf.types import Array

if TYPE_CHECKING:
    from conicnmf.model.blocks import Block


_GRAM_ENTRIES = 1 << 22
"""How many entries of Gram matrices are held at once where columns have their own."""


@dataclass(eq=False)  # made in every step, as its views are
class Subproblem:
    """A block with the other variables held: what one step of an alternating method solves."""

    block: Block
    views: tuple[View, ...]

    def on(self, block: Block) -> Subproblem:
        """Return the same for the block with other constraints or penalties."""
        return replace(self, block=block)

    def lowered_by(self, solver: Any, B: Array, seen: Any) -> Any:
        """Let a solver lower the block; one whose variable is elsewhere sends the solver there."""
        return solver.lower(self, B, seen)

    def majorized(self, B: Array, block: Block) -> Subproblem:
        """Return majorizers that touch the addends at B, for a block that stands for them.

        Whatever lowers them lowers the addends, under any constraint. Penalties that the block
        leaves out have majorizers among them.
        """
        assert block.kind is not None
        views: list[View] = [view.majorized(B, block.kind) for view in self.views]
        bounded = [p for p in self.block.penalties if p not in block.penalties]
        views += [PenaltyView(penalty.majorize(B)) for penalty in bounded]
        return Subproblem(block, tuple(views))

    def objective(self, B: Array) -> float:
        """Return the addends plus the block's penalties."""
        return self.loss(B) + self.block.penalty(B)

    def loss(self, B: Array) -> float:
        """Return the addends without the penalties."""
        return sum(view.value(B) for view in self.views)

    def gradient(self, B: Array) -> Array:
        """Return the gradient of addends and penalties."""
        total = self.loss_gradient(B)
        for penalty in self.block.penalties:
            total = total + penalty.gradient(B)
        return total

    def loss_gradient(self, B: Array) -> Array:
        """Return the gradient of the addends alone."""
        return _sum([view.gradient(B) for view in self.views], np.zeros_like(B))

    def plain_gradient(self, B: Array) -> Array:
        """Return the gradient of addends and penalties, but for shaped penalties."""
        slope, curvature = self.block.orthant
        return np.asarray(self.loss_gradient(B) + slope + curvature * B, dtype=B.dtype)

    def quadratic(self) -> Quadratic:
        """Return addends and penalties as one quadratic on B ≥ 0, but for shaped penalties."""
        return self._with_penalties([view.quadratic() for view in self.views])

    def columnwise(self, valued: bool = True) -> Iterator[tuple[slice, Quadratic]]:
        """Yield quadratics of some columns after the other, with a matrix for each of them.

        There are only as many matrices at once as a few megabytes hold. A quadratic of all columns
        is yielded as it is. Constants, a pass over the data, are left out where values do not matter.
        """
        if "quadratic" in self.block.abilities:
            yield slice(None), self.quadratic()
            return
        rank, columns = self.block.shape
        step = max(1, _GRAM_ENTRIES // rank**2)
        constant = sum(view.at_zero for view in self.views) if valued else 0.0
        for first in range(0, columns, step):
            part = slice(first, first + step)
            found = self._with_penalties([view.grams(part) for view in self.views])
            yield part, replace(found, constant=constant if first == 0 else 0.0)

    def stacked(self) -> Quadratic:
        """Return the quadratics of all columns as one, with a matrix for each column."""
        parts = [part for _, part in self.columnwise()]
        G, C = np.concatenate([part.G for part in parts]), np.hstack([part.C for part in parts])
        return Quadratic(G, C, sum(part.constant for part in parts))

    def vectorized(self) -> Quadratic:
        """Return the same in all entries of B, row after row, as one column."""
        return self._with_penalties([view.vectorized() for view in self.views])

    def _with_penalties(self, parts: list[Quadratic]) -> Quadratic:
        if len(parts) == 1 and not self.block.penalties:
            return parts[0]
        G, C = _sum([q.G for q in parts]), _sum([q.C for q in parts])
        slope, curvature = self.block.orthant
        if curvature:
            G = G + curvature * np.eye(G.shape[-1], dtype=G.dtype)
        return Quadratic(G, C - slope if slope else C, sum(q.constant for q in parts))

    def separable(self) -> Separable:
        """Return addends and penalties as one sum over the entries of B ≥ 0, up to a constant."""
        return Separable.added([view.separable() for view in self.views], *self.block.orthant)

    def reduced(self) -> Reduced | None:
        """Return the addends as least squares of the size of B, where they have that form."""
        if not self.views or "reduced" not in self.block.abilities:
            return None
        return Reduced.added([view.reduced() for view in self.views])

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the addends as a CVXPY expression of B."""
        return sum(view.expression(B) for view in self.views)

    @cached_property
    def step_size(self) -> float:
        """A safe first step along the gradient of squared losses."""
        return 1 / (sum(view.curvature for view in self.views) or 1.0)


def _sum(parts: list[Array], empty: Array | None = None) -> Array:
    """Return the sum; a single part as it is, so that its numbers stay the same."""
    if not parts and empty is not None:
        return empty
    return parts[0] if len(parts) == 1 else np.asarray(sum(parts[1:], parts[0]))
