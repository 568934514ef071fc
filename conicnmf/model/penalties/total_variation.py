"""Total variation: components made of a few flat pieces."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.geometry.total_variation import prox_total_variation
from conicnmf.model.terms import Pieces, Weighted, along, by_rows
from conicnmf.types import Array


@dataclass(frozen=True)
class TotalVariation(Weighted):
    """The penalty weight · Σ|bᵢ₊₁ − bᵢ| along each component.

    Examples
    --------
    >>> TotalVariation(0.5).value(np.array([[0.0, 2.0, 1.0]]))
    1.5
    """

    each: Pieces = "component"

    def value(self, B: Array) -> float:
        """Return the weighted sum of the jumps."""
        return self.weight * float(np.abs(np.diff(B, axis=along(self.each))).sum())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        axis = along(self.each)
        jumps = cp.sum(cp.abs(cp.diff(B, axis=axis))) if B.shape[axis] > 1 else 0 * cp.sum(B)
        return self.weight * jumps

    def prox(self, B: Array, step: float) -> Array:
        """Return the nearest pieces with this price on jumps, in O(n)."""
        return by_rows(lambda rows: prox_total_variation(rows, step * self.weight), B, self.each)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Set what is negative of them to zero, which is exact here."""
        return np.maximum(self.prox(B, step), 0)

    def scaled(self, c: float) -> TotalVariation:
        """Divide the weight by c."""
        return self.times(1 / c)
