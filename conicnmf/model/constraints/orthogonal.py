"""Non-negative components that are orthogonal: parts that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from conicnmf.geometry.norms import project_l0
from conicnmf.model.constraints.cardinality import few_within
from conicnmf.model.constraints.entrywise import Box
from conicnmf.model.terms import Constraint, Each, Example, by_rows, relative_to
from conicnmf.types import Array


@dataclass(frozen=True)
class Orthogonal(Constraint):
    """Components are non-negative and orthogonal to each other, of any length: WᵀW is diagonal.

    Two non-negative components are orthogonal exactly when they share no entry. So each row of W,
    or column of H, has at most one entry that is not zero, and the nearest point keeps the largest.

    Examples
    --------
    >>> Orthogonal().project(np.array([[3.0, 4.0, 1.0], [1.0, 0.0, 2.0]]))
    array([[3., 4., 0.],
           [0., 0., 2.]])
    """

    each: Each = field(default="sample", init=False)
    implies_nonnegative: ClassVar[bool] = True
    scale_free: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "Orthogonal()"

    @property
    def convex(self) -> bool:
        """A point between two such factors has components that overlap."""
        return False

    def violation(self, B: Array) -> Array:
        """Return the second largest entry of each column, or a negative one, relative to B."""
        columns = B.T
        second = np.sort(columns, axis=1)[:, -2:-1].max(axis=1, initial=0.0)
        return relative_to(columns, np.maximum(second, -columns.min(axis=1)))

    def project(self, B: Array) -> Array:
        """Keep the largest positive entry of each column."""
        return by_rows(lambda rows: project_l0(rows, 1, nonneg=True), B, self.each)

    def project_within(self, B: Array, lower: Array, upper: Array) -> Array:
        """Keep the entry of each column that is worth most within its bounds."""
        return few_within(self, B, 1, np.maximum(lower, 0.0), upper)

    def convex_at(self, P: Array) -> Constraint:
        """Return the factors whose parts own the same entries as those of P."""
        owners = np.arange(len(P))[:, None] == P.argmax(axis=0)
        return Box(0.0, np.where(owners, np.inf, 0.0))

    def scaled(self, c: float) -> Orthogonal:
        """Return the same set: it does not depend on scale."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return parts that do not overlap, and some that do."""
        inside = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
        return [Example(cls(), inside, inside + 0.1), Example(cls(), inside, -inside)]
