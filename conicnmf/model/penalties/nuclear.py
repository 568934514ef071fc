"""The nuclear norm: a factor of low rank."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.geometry.nuclear import shrink_singular_values
from conicnmf.model.terms import Weighted
from conicnmf.types import Array


@dataclass(frozen=True)
class Nuclear(Weighted):
    """The penalty weight · the sum of the factor's singular values.

    Examples
    --------
    >>> round(Nuclear(0.5).value(np.array([[3.0, 0.0], [0.0, -1.0]])), 12)
    2.0
    """

    def value(self, B: Array) -> float:
        """Return the weighted sum of singular values."""
        return self.weight * float(np.linalg.norm(B, "nuc"))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        return self.weight * cp.normNuc(B)

    def prox(self, B: Array, step: float) -> Array:
        """Make the singular values smaller; with B ≥ 0 in addition there is no closed form."""
        return shrink_singular_values(B, step * self.weight)

    def scaled(self, c: float) -> Nuclear:
        """Divide the weight by c."""
        return self.times(1 / c)
