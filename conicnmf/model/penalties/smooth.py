"""Smoothness: components whose neighbors, slopes or curvatures differ little."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.geometry.differences import difference_bands, prox_differences
from conicnmf.model.terms import Pieces, Weighted, along, by_rows
from conicnmf.settings import Count
from conicnmf.types import Array


@dataclass(frozen=True)
class Smooth(Weighted):
    """The penalty weight · ‖D b‖² for each component b, D taking differences `order` times.

    Order 1 favors components that hardly change, order 2 components that are nearly straight.

    Examples
    --------
    >>> Smooth(0.5).value(np.array([[0.0, 2.0, 1.0]]))
    2.5
    >>> Smooth(0.5, order=2).value(np.array([[0.0, 2.0, 1.0]]))
    4.5
    """

    order: Count = 1
    each: Pieces = "component"

    def _differences(self, B: Array) -> Array:
        return np.diff(B, self.order, axis=along(self.each))

    def value(self, B: Array) -> float:
        """Return the weighted sum of squared differences."""
        return self.weight * float(np.sum(self._differences(B) ** 2))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        axis = along(self.each)
        if B.shape[axis] <= self.order:
            return 0 * cp.sum(B)
        return self.weight * cp.sum_squares(cp.diff(B, self.order, axis=axis))

    def gradient(self, B: Array) -> Array:
        """Return 2 weight DᵀD b for each component b."""
        axis = along(self.each)
        if B.shape[axis] <= self.order:
            return np.zeros_like(B)
        rest = self._differences(B)
        margin = np.zeros_like(rest.take([0], axis=axis))
        for _ in range(self.order):  # each difference gives to its two entries, with opposite sign
            rest = -np.diff(rest, axis=axis, prepend=margin, append=margin)
        return np.asarray(2 * self.weight * rest, dtype=B.dtype)

    @property
    def abilities(self) -> frozenset[str]:
        """All forms, but for ties between samples where components are smooth in each sample."""
        return super().abilities - (frozenset() if self.each == "component" else {"ties"})

    def ties(self, length: int) -> Array:
        """Return 2 weight DᵀD."""
        if self.each != "component":
            raise self._lacks("ties")
        if length <= self.order:
            return np.zeros((1, length))
        return 2 * self.weight * difference_bands(length, self.order)

    def prox(self, B: Array, step: float) -> Array:
        """Solve one banded system for each component."""
        weight = step * self.weight
        return by_rows(lambda rows: prox_differences(rows, weight, self.order), B, self.each)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Solve the same on the entries that are not zero."""
        weight = step * self.weight
        return by_rows(lambda rows: prox_differences(rows, weight, self.order, True), B, self.each)

    def scaled(self, c: float) -> Smooth:
        """Divide the weight by c²."""
        return self.times(1 / c**2)
