"""A problem as two blocks in one orientation: minimize over B the loss of Y ≈ A B.

The H-block is (V, W, H), the W-block is (Vᵀ, Hᵀ, Wᵀ): a component is a row of B in both, and no
solver knows which factor it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conicnmf._types import Array, Data, stored
from conicnmf.constraints import Sparseness, UnitNorm
from conicnmf.joint import JointProjection, find_projection, merged_bounds
from conicnmf.losses import Frobenius
from conicnmf.problem import Problem, constraints_of, penalties_of
from conicnmf.terms import Constraint, Loss, Penalty, Quadratic

Factors = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Block:
    """One factor's problem, with the other factor A given at each call."""

    name: str
    Y: Data
    shape: tuple[int, int]
    loss: Loss
    constraints: tuple[Constraint, ...]
    penalties: tuple[Penalty, ...]

    @cached_property
    def nonneg(self) -> bool:
        """Whether the constraints keep every entry at or above zero."""
        lower, _ = merged_bounds(self.constraints)
        return bool((lower >= 0).all())

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

    def quadratic(self, A: Array) -> Quadratic:
        """Return loss and penalties as one quadratic on B ≥ 0."""
        G, C = self.loss.quadratic(self.Y, A)
        slope, curvature = self.orthant
        if curvature:
            G = G + curvature * np.eye(len(G), dtype=G.dtype)
        return Quadratic(G, C - slope if slope else C, self.zero_loss)

    def objective(self, A: Array, B: Array) -> float:
        """Return the loss plus this block's penalties."""
        return self.loss.value(self.Y, A, B) + self.penalty(B)

    def penalty(self, B: Array) -> float:
        """Return the sum of this block's penalties."""
        return sum(penalty.value(B) for penalty in self.penalties)

    def gradient(self, A: Array, B: Array) -> Array:
        """Return the gradient of loss and penalties."""
        total = self.loss.gradient(self.Y, A, B)
        for penalty in self.penalties:
            total = total + penalty.gradient(B)
        return total

    def violation(self, B: Array) -> float:
        """Return the largest violation of any constraint."""
        return max((float(c.violation(B).max(initial=0.0)) for c in self.constraints), default=0.0)

    def collapsed(self, B: Array) -> bool:
        """Whether a component is zero where a constraint forbids or cannot judge zero."""
        if not B.any():
            return True
        judged = (c for c in self.constraints if isinstance(c, (Sparseness, UnitNorm)))
        axes = {1 if c.each == "component" else 0 for c in judged}
        return any(not B.any(axis=axis).all() for axis in axes)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Both blocks of a problem, and what is measured over them."""

    problem: Problem
    W: Block
    H: Block

    def __iter__(self) -> Iterator[Block]:
        return iter((self.W, self.H))

    def view(self, block: Block, factors: Factors) -> tuple[Array, Array]:
        """Return (A, B) of a block."""
        W, H = factors["W"], factors["H"]
        return (W, H) if block.name == "H" else (H.T, np.ascontiguousarray(W.T))

    def put(self, block: Block, factors: Factors, B: Array) -> Factors:
        """Return the factors with the block's B in its place."""
        # W stays a view of its transposed block, so that looking at the block again copies nothing.
        return {**factors, block.name: B if block.name == "H" else B.T}

    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""
        return self.total(self.loss(factors), factors)

    def loss(self, factors: Factors) -> float:
        """Return the loss alone."""
        return self.H.loss.value(self.H.Y, factors["W"], factors["H"])

    def total(self, loss: float, factors: Factors) -> float:
        """Return the objective given the loss."""
        own = sum(block.penalty(self.view(block, factors)[1]) for block in self)
        return loss + own + self.problem.offset

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − W H‖²/‖V‖², over the weighted entries where there are weights."""
        W, H = factors["W"], factors["H"]
        if (W.shape[0], H.shape[1]) != self.problem.V.shape:
            return float("nan")
        weighted = "reduced" in self.H.loss.abilities
        loss = self.H.loss if weighted else Frobenius()
        zero = self.H.zero_loss if weighted else loss.value(self.problem.V, 0 * W, 0 * H)
        return loss.value(self.problem.V, W, H) / zero if zero else float("nan")

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        cap = self.problem.loss.cap
        excess = max(0.0, self.loss(factors) / cap - 1) if np.isfinite(cap) else 0.0
        return ({f"loss <= {cap:g}": excess} if np.isfinite(cap) else {}) | {
            f"{block.name}: {constraint}": float(
                constraint.violation(self.view(block, factors)[1]).max(initial=0.0)
            )
            for block in self
            for constraint in block.constraints
        }

    @cached_property
    def empty(self) -> bool:
        """Whether the data are zero."""
        return not stored(self.problem.V).any()

    def collapsed(self, factors: Factors) -> bool:
        """Whether a factor lost a component it must keep."""
        if self.empty:
            return False  # zero is the answer for zero data
        return any(block.collapsed(self.view(block, factors)[1]) for block in self)


def blocks_of(problem: Problem) -> Blocks:
    """Return the two blocks of a problem."""
    V, loss = problem.V, problem.loss
    (m, r), (_, n) = problem.shapes
    W, H = (
        Block(name, Y, shape, own, constraints_of(terms), penalties_of(terms))
        for name, Y, shape, own, terms in (
            ("W", V.T, (r, m), loss.transposed(), problem.W),
            ("H", V, (r, n), loss, problem.H),
        )
    )
    return Blocks(problem, W, H)
