"""Components with one peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.geometry.isotonic import project_unimodal
from conicnmf.model.constraints.convex import Convex
from conicnmf.model.terms import Constraint, Example, Pieces, along, by_rows, pieces, relative_to
from conicnmf.types import Array


@dataclass(frozen=True)
class Unimodal(Constraint):
    """Along each component the entries rise to one peak and fall after it.

    The peak may be anywhere, so the set is not convex; the projection is exact nevertheless.

    Examples
    --------
    >>> Unimodal().project(np.array([[1.0, 3.0, 2.0, 4.0, 0.0]]))
    array([[1. , 2.5, 2.5, 4. , 0. ]])
    """

    each: Pieces = "component"
    scale_free: ClassVar[bool] = True

    @property
    def convex(self) -> bool:
        """Two peaks may lie between hills with one peak each."""
        return False

    def violation(self, B: Array) -> Array:
        """Return for the best peak the largest step in the wrong direction, relative to B."""
        rows = pieces(B, self.each)
        steps = np.diff(rows, axis=1, prepend=rows[:, :1])
        falls = np.maximum.accumulate(np.maximum(-steps, 0.0), axis=1)  # up to each entry
        rises = np.maximum.accumulate(np.maximum(steps, 0.0)[:, ::-1], axis=1)[:, ::-1]
        after = np.pad(rises[:, 1:], ((0, 0), (0, 1)))  # behind each entry
        return relative_to(rows, np.maximum(falls, after).min(axis=1))

    def project(self, B: Array) -> Array:
        """Fit a rise and a fall for every peak at once, and take the nearest."""
        return by_rows(project_unimodal, B, self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Do the same with every fit set to zero where it is negative."""
        return by_rows(lambda rows: project_unimodal(rows, nonneg=True), B, self.each)

    def convex_at(self, P: Array) -> Constraint:
        """Return the hills with the peaks of P."""
        rows = pieces(P, self.each)
        behind = np.arange(rows.shape[1] - 1) >= rows.argmax(axis=1)[:, None]
        signs, axis = pieces(np.where(behind, -1.0, 1.0), self.each), along(self.each)
        if not signs.size:
            return Convex(lambda B: [])
        return Convex(lambda B: cp.multiply(signs, cp.diff(B, axis=axis)) >= 0, "peaks in place")

    def scaled(self, c: float) -> Unimodal:
        """Return the same set: it is a cone."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return both directions."""
        hill = np.array([[0.0, 1.0, 3.0, 2.0], [4.0, 2.0, 1.0, 0.0]])
        valley = np.array([[3.0, 0.0, 1.0, 4.0], [1.0, 0.0, 2.0, 0.0]])
        return [Example(cls(), hill, valley), Example(cls(each="sample"), hill.T, valley.T)]
