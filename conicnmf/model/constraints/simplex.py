"""Non-negative entries that sum to a given total."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.geometry.simplex import project_simplex
from conicnmf.model.terms import Constraint, Example, Pieces, pieces
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class Simplex(Constraint):
    """Each component is non-negative and sums to `total`.

    Examples
    --------
    >>> import numpy as np
    >>> Simplex().project(np.array([[1.0, 1.0, -5.0]]))
    array([[0.5, 0.5, 0. ]])
    """

    total: Positive = 1.0
    each: Pieces = "component"
    implies_nonnegative: ClassVar[bool] = True

    def violation(self, B: Array) -> Array:
        """Return the relative error of each sum, or the largest negative entry if that is more."""
        rows = pieces(B, self.each)
        gap = np.abs(rows.sum(axis=1) - self.total)
        return np.asarray(np.maximum(gap, -rows.min(axis=1)) / self.total)

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the linear constraints."""
        return [B >= 0, cp.sum(B, axis=1 if self.each == "component" else 0) == self.total]

    def project(self, B: Array) -> Array:
        """Return the nearest point of the simplex for each component."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(project_simplex(rows, self.total), self.each)

    def size(self) -> float:
        """Return the total."""
        return self.total

    def scaled(self, c: float) -> Simplex:
        """Scale the total."""
        return replace(self, total=c * self.total)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return both directions."""
        inside = np.array([[0.25, 0.75], [1.0, 0.0]])
        return [
            Example(cls(), inside, inside * 2),
            Example(cls(total=2.0, each="sample"), 2 * inside.T, inside.T),
        ]
