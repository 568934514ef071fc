"""A reward for sparse components, the relaxed form of a lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.model.terms import Pieces, Weighted, pieces
from conicnmf.types import Array


@dataclass(frozen=True)
class SparsenessReward(Weighted):
    """The penalty −weight · Σ sp(b) over the components b: sparse components are rewarded.

    It is not convex; solvers linearize it at the iterate and repeat. At zero, where sparseness is
    undefined, the reward is zero.

    Examples
    --------
    >>> import numpy as np
    >>> round(SparsenessReward(0.5).value(np.array([[0.0, 2.0], [1.0, 1.0]])), 12)
    -0.5
    """

    each: Pieces = "component"

    sign_free: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return the negated sum of sparseness values."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return -self.weight * float(np.nansum(hoyer_sparseness(rows)))

    def gradient(self, B: Array) -> Array:
        """Return the gradient, with sign(0) = 1 as on the non-negative orthant."""
        rows = np.asarray(pieces(B, self.each), dtype=float)
        n = rows.shape[1]
        if n == 1:
            return np.zeros_like(B)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        safe = np.where(norms > 0, norms, 1.0)
        signs = np.where(rows < 0, -1.0, 1.0)
        units = rows / safe  # powers of a tiny norm would be zero
        totals = np.abs(units).sum(axis=1, keepdims=True)
        # sp = (√n − ‖b‖₁/‖b‖₂)/(√n − 1)
        slopes = (totals * units - signs) / safe / (np.sqrt(n) - 1)
        return pieces(-self.weight * np.where(norms > 0, slopes, 0.0), self.each).astype(B.dtype)

    def slope(self, B: Array) -> Array:
        """Return the slope of the linearization."""
        return self.gradient(B)

    def scaled(self, c: float) -> SparsenessReward:
        """Return the same reward: sparseness does not depend on scale."""
        return self
