"""The l2,1 norm: whole pieces become zero together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.geometry.groups import shrink_groups
from conicnmf.model.terms import Pieces, Weighted, along, by_rows
from conicnmf.types import Array


@dataclass(frozen=True)
class L21(Weighted):
    """The penalty weight · Σ‖b‖₂ over the components b, so that some of them become zero.

    With ``each="sample"`` on W it is the sum of the norms of W's rows, which selects features.

    Examples
    --------
    >>> L21(0.5).value(np.array([[3.0, 4.0], [0.0, 1.0]]))
    3.0
    """

    each: Pieces = "component"
    sign_free: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return the weighted sum of norms."""
        return self.weight * float(np.linalg.norm(B, axis=along(self.each)).sum())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        return self.weight * cp.sum(cp.norm(B, 2, axis=along(self.each)))

    def prox(self, B: Array, step: float) -> Array:
        """Make each component shorter, or zero."""
        return by_rows(lambda rows: shrink_groups(rows, step * self.weight), B, self.each)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Set negative entries to zero first: they would only make the component longer."""
        return self.prox(np.maximum(B, 0), step)

    def scaled(self, c: float) -> L21:
        """Divide the weight by c."""
        return self.times(1 / c)
