"""A problem as blocks in one orientation: minimize over B the loss of Y ≈ A B.

The H-block is (V, W, H), the W-block is (Vᵀ, Hᵀ, Wᵀ): a component is a row of B in both, and no
solver knows which factor it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import cvxpy as cp
import numpy as np

from conicnmf.model.constraints.joint import JointProjection, find_projection, merged_bounds
from conicnmf.model.terms import Constraint, Loss, Penalty, Quadratic, Reduced, Term
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False)
class Block:
    """One variable's part of a problem; `given` holds the others."""

    name: str
    Y: Data
    shape: tuple[int, int]
    loss: Loss
    constraints: tuple[Constraint, ...]
    penalties: tuple[Penalty, ...]

    def given(self, A: Array) -> Subproblem:
        """Return the block with the other factor held at A."""
        return Subproblem(self, A)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds on the entries that all constraints together allow."""
        return merged_bounds(self.constraints)

    @cached_property
    def nonneg(self) -> bool:
        """Whether the constraints keep every entry at or above zero."""
        return bool((self.bounds[0] >= 0).all())

    @cached_property
    def orthant_only(self) -> bool:
        """Whether the constraints say B ≥ 0 and nothing else."""
        lower, upper = self.bounds
        boxes = all("bounds" in c.abilities for c in self.constraints)
        return boxes and bool((lower == 0).all() and (upper == np.inf).all())

    @cached_property
    def projection(self) -> JointProjection | None:
        """The projection on all constraints together, if one is known."""
        return find_projection(self.constraints)

    @cached_property
    def by_component(self) -> bool:
        """Whether the feasible set is a product over components."""
        return all(c.each in ("entry", "component") for c in self.constraints)

    @cached_property
    def reverse_convex(self) -> tuple[Constraint, ...]:
        """The constraints that convex steps must approximate by tangent planes."""
        return tuple(c for c in self.constraints if not c.convex)

    @cached_property
    def bands(self) -> tuple[Constraint, ...]:
        """The constraints that are bands of Hoyer sparseness."""
        return tuple(c for c in self.constraints if "band" in c.abilities)

    @cached_property
    def only_band(self) -> tuple[float, float] | None:
        """The band of each component where there is nothing else but B ≥ 0, else nothing."""
        others = [c for c in self.constraints if c not in self.bands]
        orthant = all(c.implies_nonnegative and "bounds" in c.abilities for c in others)
        alone = len(self.bands) == 1 and self.bands[0].each == "component"
        return self.bands[0].band() if alone and self.nonneg and orthant else None

    @cached_property
    def scale_free(self) -> bool:
        """Whether every multiple of a feasible B is feasible and costs the same."""
        return not self.penalties and all(c.scale_free for c in self.constraints)

    @cached_property
    def zero_allowed(self) -> bool:
        """Whether every constraint allows components that are zero."""
        return all(c.zero_allowed(self.shape) for c in self.constraints)

    @cached_property
    def zero_loss(self) -> float:
        """The loss at B = 0."""
        rank = self.shape[0]
        A, B = np.zeros((self.Y.shape[0], rank)), np.zeros((rank, self.Y.shape[1]))
        return self.loss.value(self.Y, A, B)

    @cached_property
    def orthant(self) -> tuple[float, float]:
        """Total (slope, curvature) of the penalties on B ≥ 0."""
        pairs = [penalty.orthant() for penalty in self.penalties]
        return sum(slope for slope, _ in pairs), sum(curvature for _, curvature in pairs)

    def penalty(self, B: Array) -> float:
        """Return the sum of this block's penalties."""
        return sum(penalty.value(B) for penalty in self.penalties)

    def violation(self, B: Array) -> float:
        """Return the largest violation of any constraint."""
        return max((float(c.violation(B).max(initial=0.0)) for c in self.constraints), default=0.0)

    @cached_property
    def _zero_forbidden(self) -> set[int]:
        """The axes along which no piece may be zero: 1 for components, 0 for samples."""
        axes = {"component": 1, "sample": 0}
        by_piece = (c for c in self.constraints if c.each in axes)
        return {axes[c.each] for c in by_piece if not c.zero_allowed(self.shape)}

    def collapsed(self, B: Array) -> bool:
        """Whether a piece is zero where a constraint forbids or cannot judge zero."""
        return not B.any() or any(not B.any(axis=axis).all() for axis in self._zero_forbidden)


@dataclass(frozen=True, eq=False)
class Subproblem:
    """A block with the other variables held: what one step of an alternating method solves."""

    block: Block
    A: Array

    def on(self, block: Block) -> Subproblem:
        """Return the same for the block with other constraints or penalties."""
        return replace(self, block=block)

    def objective(self, B: Array) -> float:
        """Return the loss plus the block's penalties."""
        return self.loss(B) + self.block.penalty(B)

    def loss(self, B: Array) -> float:
        """Return the loss alone."""
        return self.block.loss.value(self.block.Y, self.A, B)

    def gradient(self, B: Array) -> Array:
        """Return the gradient of loss and penalties."""
        total = self.loss_gradient(B)
        for penalty in self.block.penalties:
            total = total + penalty.gradient(B)
        return total

    def loss_gradient(self, B: Array) -> Array:
        """Return the gradient of the loss alone."""
        return self.block.loss.gradient(self.block.Y, self.A, B)

    def quadratic(self) -> Quadratic:
        """Return loss and penalties as one quadratic on B ≥ 0."""
        block = self.block
        G, C = block.loss.quadratic(block.Y, self.A)
        slope, curvature = block.orthant
        if curvature:
            G = G + curvature * np.eye(len(G), dtype=G.dtype)
        return Quadratic(G, C - slope if slope else C, block.zero_loss)

    def reduced(self) -> Reduced | None:
        """Return the loss as least squares of the size of B, where it has that form."""
        loss = self.block.loss
        return loss.reduced(self.block.Y, self.A) if "reduced" in loss.abilities else None

    def ratio(self, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, penalties on B ≥ 0 included."""
        down, up = self.block.loss.ratio(self.block.Y, self.A, B)
        slope, curvature = self.block.orthant
        return down, up + slope + curvature * B

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the loss as a CVXPY expression of B."""
        return self.block.loss.expression(self.block.Y, self.A, B)

    @cached_property
    def step_size(self) -> float:
        """A safe first step along the gradient of a squared loss."""
        return 1 / (2 * float(np.linalg.norm(self.A, 2)) ** 2 or 1.0)


def constraints_of(terms: Sequence[Term]) -> tuple[Constraint, ...]:
    """Return the constraints among the terms."""
    return tuple(term for term in terms if isinstance(term, Constraint))


def penalties_of(terms: Sequence[Term]) -> tuple[Penalty, ...]:
    """Return the penalties among the terms."""
    return tuple(term for term in terms if isinstance(term, Penalty))
