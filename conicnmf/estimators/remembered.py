"""What batches have said of the components: a sum of functions that stand for their losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from conicnmf.errors import IncompatibleError
from conicnmf.kernels.separable import minimize_separable
from conicnmf.model.blocks import Block
from conicnmf.model.terms import Quadratic
from conicnmf.solve.methods import HALS, Multiplicative
from conicnmf.types import Array, Factors

_SWEEPS = HALS(sweeps=3, extrapolate=False)
_LEAST = 1e-16
"""Entries stay above this part of the largest: from zero no later batch could bring them back."""


class Remembered(Protocol):
    """A sum of functions of the components that is lowered without the samples."""

    def faded(self, left: float, new: Any) -> Self:
        """Return `left` times this sum, and the newest one."""
        ...

    def lowered(self, block: Block, B: Array) -> Array:
        """Return components where the sum is lower, by the constraints of a block."""
        ...


def remembered(block: Block, factors: Factors) -> Remembered:
    """Return what a batch says: its squares, or for divergences a sum over entries above the loss.

    References
    ----------
    Mairal, Stochastic majorization-minimization algorithms for large-scale optimization, NIPS 2013.
    """
    held, B = block.given(factors), block.rows(factors)
    squares = "quadratic" in block.abilities
    reasons = (_SWEEPS if squares else Multiplicative()).unmet(block)
    if reasons:
        listed = "\n".join(f"  - {reason}" for reason in reasons)
        raise IncompatibleError(f"this model cannot be learned batch by batch:\n{listed}")
    if squares:
        return Squares(held.quadratic())
    assert block.separable is not None
    bound = held.majorized(B, block.separable).separable()
    base = _alive(bound.base.astype(float))
    return Powers({e: w * base**-e for e, w in bound.slopes.items()})


def _alive(B: Array) -> Array:
    return np.asarray(np.maximum(B, _LEAST * (B.max() or 1.0)))


@dataclass(frozen=True, eq=False)
class Squares:
    """½⟨B, G B⟩ − ⟨C, B⟩."""

    sums: Quadratic

    def faded(self, left: float, new: Squares) -> Self:
        """Add the matrices."""
        old, own = self.sums, new.sums
        return type(self)(Quadratic(left * old.G + own.G, left * old.C + own.C, own.constant))

    def lowered(self, block: Block, B: Array) -> Array:
        """Minimize over one component after the other."""
        return _SWEEPS.descend(block, self.sums, B)


@dataclass(frozen=True, eq=False)
class Powers:
    """The sum over entries whose slope is Σ_e weights[e]·b^e."""

    weights: Mapping[float, Array]

    def faded(self, left: float, new: Powers) -> Self:
        """Add the weights of each power."""
        zero = np.zeros(())
        exponents = {*self.weights, *new.weights}
        own = {e: left * self.weights.get(e, zero) + new.weights.get(e, zero) for e in exponents}
        return type(self)(own)

    def lowered(self, block: Block, B: Array) -> Array:
        """Minimize every entry by itself."""
        return _alive(minimize_separable(np.ones(B.shape), self.weights))
