"""Components with few entries that are not zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.geometry.norms import project_l0, project_l0_within
from conicnmf.model.constraints.entrywise import Box
from conicnmf.model.terms import Constraint, Example, Pieces, by_rows, pieces, relative_to
from conicnmf.settings import Count
from conicnmf.types import Array

_NONE = 1e-300
"""What stands for zero where entries are chosen: fewer than k may be filled up."""


def few_within(
    constraint: Constraint, B: Array, k: int, lower: Array | float, upper: Array
) -> Array:
    """Return the nearest B within bounds with at most k entries of each piece that are not zero."""
    low, high = (pieces(np.broadcast_to(X, B.shape), constraint.each) for X in (lower, upper))
    most = int(((low > 0) | (high < 0)).sum(axis=1).max(initial=0))
    if most > k:
        raise InfeasibleError(
            f"{constraint} contradicts the bounds on its entries: they keep {most} entries of a piece "
            f"from zero, and {k} may be; relax one of them"
        )
    return by_rows(lambda rows: project_l0_within(rows, k, low, high), B, constraint.each)


@dataclass(frozen=True)
class Cardinality(Constraint):
    """Each component has at most k entries that are not zero.

    With ``each="sample"`` on H, each sample is a mixture of at most k components.

    Examples
    --------
    >>> Cardinality(1).project(np.array([[1.0, -3.0, 2.0]]))
    array([[ 0., -3.,  0.]])
    """

    k: Count
    each: Pieces = "component"
    sign_free: ClassVar[bool] = True
    scale_free: ClassVar[bool] = True

    @property
    def convex(self) -> bool:
        """A point between two sparse ones has the entries of both."""
        return False

    def violation(self, B: Array) -> Array:
        """Return the largest entry beyond the k largest, relative to the largest."""
        rows = pieces(B, self.each)
        rest = rows.shape[1] - self.k
        if rest <= 0:
            return np.zeros(len(rows))
        return relative_to(rows, np.partition(np.abs(rows), rest - 1, axis=1)[:, rest - 1])

    def project(self, B: Array) -> Array:
        """Keep the k largest entries."""
        return by_rows(lambda rows: project_l0(rows, self.k), B, self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Keep the k largest positive entries."""
        return by_rows(lambda rows: project_l0(rows, self.k, nonneg=True), B, self.each)

    def project_within(self, B: Array, lower: Array, upper: Array) -> Array:
        """Keep the k entries that are worth most within their bounds."""
        return few_within(self, B, self.k, lower, upper)

    def convex_at(self, P: Array) -> Constraint:
        """Return the factors that are zero beyond the k largest entries of P."""
        kept = self.project(np.where(P == 0, _NONE, P)) != 0
        return Box(np.where(kept, -np.inf, 0.0), np.where(kept, np.inf, 0.0))

    def scaled(self, c: float) -> Cardinality:
        """Return the same set: it does not depend on scale."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return both directions."""
        inside = np.array([[0.0, -2.0, 1.0], [3.0, 0.0, 0.0]])
        outside = np.array([[1.0, -2.0, 1.0], [3.0, 0.5, 1.0]])
        return [
            Example(cls(2), inside, outside),
            Example(cls(2, each="sample"), inside.T, outside.T),
        ]
