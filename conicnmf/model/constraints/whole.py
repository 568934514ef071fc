"""The sum and the norm of a whole factor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.geometry.norms import project_norm_ball
from conicnmf.geometry.simplex import project_l1_ball, project_simplex
from conicnmf.kernels.sum_ls import sum_ls_gram
from conicnmf.model.terms import Constraint, Example
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class FactorSum(Constraint):
    """All entries of the factor together sum to at most `total`, or to exactly that if `equal`.

    Examples
    --------
    >>> FactorSum(2.0).project(np.array([[1.0, 3.0]]))
    array([[0., 2.]])
    """

    total: float
    equal: bool = False

    def violation(self, B: Array) -> Array:
        """Return the excess of the sum, relative to the total, or to B where that is zero."""
        gap = float(B.sum(dtype=float)) - self.total
        scale = abs(self.total) or float(np.abs(B).sum()) or 1.0
        return np.atleast_1d((abs(gap) if self.equal else max(gap, 0.0)) / scale)

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return one linear constraint."""
        return [cp.sum(B) == self.total if self.equal else cp.sum(B) <= self.total]

    def project(self, B: Array) -> Array:
        """Take the same number off every entry."""
        gap = float(B.sum(dtype=float)) - self.total
        return B - B.dtype.type((gap if self.equal else max(gap, 0.0)) / B.size)

    def project_nonneg(self, B: Array) -> Array:
        """Take the same number off every entry, and set what is negative to zero."""
        self._require_nonneg()
        whole = B.reshape(1, -1)
        equal = project_simplex if self.equal else None
        found = equal(whole, self.total) if equal else project_l1_ball(whole, self.total, True)
        return found.reshape(B.shape)

    def least_squares_nonneg(self, G: Array, C: Array, B: Array) -> Array:
        """Find the multiplier of the sum, and the active sets."""
        self._require_nonneg()
        return sum_ls_gram(G, C, self.total, self.equal, B)

    def _require_nonneg(self) -> None:
        if self.total < 0:
            raise InfeasibleError(f"{self} contradicts NonNegative; use a total >= 0")

    def size(self) -> float:
        """Return the size of the total."""
        return abs(self.total)

    def scaled(self, c: float) -> FactorSum:
        """Scale the total."""
        return replace(self, total=c * self.total)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return an upper bound and a prescribed sum."""
        inside = np.array([[0.5, 1.0], [0.2, 0.3]])
        return [
            Example(cls(3.0), inside, 2 * inside),
            Example(cls(2.0, equal=True), inside, inside / 2),
        ]


@dataclass(frozen=True)
class FactorNorm(Constraint):
    """The factor has Frobenius norm at most `radius`.

    Examples
    --------
    >>> FactorNorm(1.0).project(np.array([[3.0], [4.0]]))
    array([[0.6],
           [0.8]])
    """

    radius: Positive = 1.0
    sign_free: ClassVar[bool] = True

    def violation(self, B: Array) -> Array:
        """Return the relative excess of the norm."""
        return np.atleast_1d(np.maximum(np.linalg.norm(B) / self.radius - 1, 0.0))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return one second-order cone."""
        return [cp.norm(B, "fro") <= self.radius]

    def project(self, B: Array) -> Array:
        """Shrink the factor if it is too long."""
        return project_norm_ball(B.reshape(1, -1), self.radius).reshape(B.shape)

    def project_nonneg(self, B: Array) -> Array:
        """Set negative entries to zero first."""
        return self.project(np.maximum(B, 0))

    def size(self) -> float:
        """Return the radius."""
        return self.radius

    def scaled(self, c: float) -> FactorNorm:
        """Scale the radius."""
        return replace(self, radius=c * self.radius)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a factor in the ball and one outside."""
        inside = np.array([[0.6, 0.3], [0.1, 0.2]])
        return [Example(cls(), inside, 2 * inside)]
