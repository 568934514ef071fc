"""All that a newcomer writes for a constraint: this file, and one line that makes it known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.extend import Constraint, Example, Pieces, pieces


@dataclass(frozen=True)
class Budget(Constraint):
    """Each component is non-negative and sums to at most `total`."""

    total: float = 1.0
    each: Pieces = "component"
    implies_nonnegative: ClassVar[bool] = True

    def violation(self, B):
        """Return by how much each sum is too large, or how negative an entry is."""
        rows = pieces(B, self.each)
        return np.maximum(np.maximum(rows.sum(axis=1) - self.total, -rows.min(axis=1)), 0)

    def cone(self, B):
        """Return the set as CVXPY states it."""
        return [B >= 0, cp.sum(B, axis=1 if self.each == "component" else 0) <= self.total]

    def project(self, B):
        """Return the nearest point: the same amount less for all, where a sum is too large."""
        rows = [self._nearest(row) for row in pieces(B, self.each)]
        return pieces(np.array(rows, dtype=B.dtype), self.each)

    def _nearest(self, row):
        if np.maximum(row, 0).sum() <= self.total:
            return np.maximum(row, 0)
        falling = np.sort(row)[::-1]
        less = (np.cumsum(falling) - self.total) / np.arange(1, row.size + 1)
        return np.maximum(row - less[np.flatnonzero(falling > less)[-1]], 0)

    @classmethod
    def examples(cls):
        """Return a point inside and one outside, in both directions."""
        inside = np.array([[0.2, 0.3, 0.0], [0.5, 0.25, 0.25]])
        return [
            Example(cls(), inside, 3 * inside),
            Example(cls(total=2.0, each="sample"), inside.T, inside.T - 1),
        ]
