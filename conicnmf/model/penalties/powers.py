"""The usual penalties: sum of magnitudes and sum of squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.model.terms import Weighted
from conicnmf.types import Array


@dataclass(frozen=True)
class L1(Weighted):
    """The penalty weight · Σ|b|.

    Examples
    --------
    >>> import numpy as np
    >>> L1(0.5).value(np.array([[1.0, -3.0]]))
    2.0
    """

    each = "entry"
    sign_free: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return the weighted sum of magnitudes."""
        return self.weight * float(np.abs(B).sum())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        return self.weight * cp.sum(cp.abs(B))

    def gradient(self, B: Array) -> Array:
        """Return the slope on the non-negative orthant."""
        return np.full_like(B, self.weight)

    def orthant(self) -> tuple[float, float]:
        """Return a constant slope."""
        return self.weight, 0.0

    def prox(self, B: Array, step: float) -> Array:
        """Bring every entry nearer to zero by step · weight."""
        short = np.maximum(np.abs(B) - B.dtype.type(step * self.weight), 0)
        return np.copysign(short, B)

    def scaled(self, c: float) -> L1:
        """Divide the weight by c."""
        return self.times(1 / c)


@dataclass(frozen=True)
class L2(Weighted):
    """The penalty weight · Σb².

    Examples
    --------
    >>> import numpy as np
    >>> L2(0.5).value(np.array([[1.0, -3.0]]))
    5.0
    """

    each = "entry"
    sign_free: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return the weighted sum of squares."""
        return self.weight * float(np.vdot(B, B))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        return self.weight * cp.sum_squares(B)

    def gradient(self, B: Array) -> Array:
        """Return 2 weight B."""
        return 2 * self.weight * B

    def orthant(self) -> tuple[float, float]:
        """Return a constant curvature."""
        return 0.0, 2 * self.weight

    def scaled(self, c: float) -> L2:
        """Divide the weight by c²."""
        return self.times(1 / c**2)
