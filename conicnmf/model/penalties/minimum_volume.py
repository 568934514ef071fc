"""Minimum volume: components that span little, as in unmixing without pure pixels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from conicnmf.model.terms import Quadratic, Weighted
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class MinimumVolume(Weighted):
    """The penalty weight · log det(WᵀW + delta I), W with one component a column.

    It is not convex. The logarithm of the determinant is concave in WᵀW, so its tangent there,
    tr(Q⁻¹WᵀW) with Q of the last iterate, is a convex quadratic that lies above it.

    Parameters
    ----------
    weight : float
    delta : float
        Keeps the logarithm finite if components are linearly dependent.

    References
    ----------
    Leplat, Ang and Gillis, Minimum-volume rank-deficient NMF, ICASSP 2019.

    Examples
    --------
    >>> round(MinimumVolume(0.5).value(np.array([[1.0, 0.0], [0.0, 1.0]])), 6)
    0.693147
    """

    delta: Positive = 1.0
    unit: Positive = field(default=1.0, kw_only=True, repr=False)
    """What B is divided by before it is judged."""

    def _gram(self, B: Array) -> Array:
        own = np.asarray(B, dtype=float) / self.unit
        return own @ own.T + self.delta * np.eye(len(B))

    def value(self, B: Array) -> float:
        """Return the weighted logarithm of the determinant."""
        return self.weight * float(np.linalg.slogdet(self._gram(B))[1])

    def majorize(self, B: Array) -> Quadratic:
        """Return weight · (tr(Q⁻¹XXᵀ) + what makes it touch at B) as a function of X."""
        Q = self._gram(B)
        G = 2 * self.weight / self.unit**2 * np.linalg.inv(Q)
        touch = self.value(B) - 0.5 * float(np.sum(G * (B @ B.T)))
        return Quadratic(G.astype(B.dtype), np.zeros_like(B), touch)

    def gradient(self, B: Array) -> Array:
        """Return 2 weight Q⁻¹B."""
        return np.asarray(self.majorize(B).G @ B, dtype=B.dtype)

    def slope(self, B: Array) -> Array:
        """Return the slope of the linearization."""
        return self.gradient(B)

    def scaled(self, c: float) -> MinimumVolume:
        """Judge the factor in its own unit from now on."""
        return replace(self, unit=c * self.unit)
