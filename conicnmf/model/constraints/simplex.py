"""Non-negative entries that sum to a given total."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.geometry.bounded_simplex import project_bounded_simplex
from conicnmf.geometry.long_rows import Cut, LongRows
from conicnmf.geometry.simplex import project_simplex
from conicnmf.kernels.simplex_ls import simplex_ls_gram
from conicnmf.model.terms import Constraint, Example, Halfspaces, Pieces, pieces
from conicnmf.model.tolerances import INSIDE
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

    def plane(self, shape: tuple[int, int]) -> Halfspaces:
        """Return that entries sum to the total."""
        return Halfspaces(np.ones(shape), self.each, self.total)

    def project(self, B: Array) -> Array:
        """Return the nearest point of the simplex for each component."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(project_simplex(rows, self.total), self.each)

    def project_within(self, B: Array, lower: Array, upper: Array) -> Array:
        """Return the nearest point of the simplex within bounds on its entries."""
        low, high = (pieces(np.broadcast_to(X, B.shape), self.each) for X in (lower, upper))
        low = np.maximum(low, 0.0)
        least, most = low.sum(axis=1).max(), high.sum(axis=1).min()
        rounding = INSIDE * self.total
        if least > self.total + rounding or most < self.total - rounding:
            raise InfeasibleError(
                f"{self} contradicts the bounds on its entries: within these the entries of a piece "
                f"sum to {least:g} at least and {most:g} at most; relax one of them"
            )
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(project_bounded_simplex(rows, self.total, low, high), self.each)

    def least_squares(self, G: Array, C: Array, B: Array) -> Array:
        """Find the multiplier of each sum, and the active sets."""
        return simplex_ls_gram(G, C, self.total, B)

    def violation_of_rows(self, rows: LongRows) -> Array:
        """Return the relative error of each sum, or the largest negative entry if that is more."""
        gap = np.abs(rows.totals - self.total)
        return np.asarray(np.maximum(gap, -rows.low) / self.total)

    def cut_of_rows(self, rows: LongRows) -> Cut:
        """Find the level above which entries sum to the total."""
        return rows.simplex(self.total)

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
