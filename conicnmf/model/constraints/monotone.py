"""Components that only rise, or only fall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.geometry.isotonic import project_isotonic
from conicnmf.model.terms import Constraint, Example, Pieces, along, by_rows, pieces, relative_to
from conicnmf.types import Array


@dataclass(frozen=True)
class Monotone(Constraint):
    """Along each component the entries rise, or fall if not `increasing`.

    Examples
    --------
    >>> Monotone().project(np.array([[1.0, 3.0, 2.0]]))
    array([[1. , 2.5, 2.5]])
    """

    increasing: bool = True
    each: Pieces = "component"
    scale_free: ClassVar[bool] = True

    def violation(self, B: Array) -> Array:
        """Return the largest step in the wrong direction, relative to the largest entry."""
        rows = pieces(B, self.each)
        steps = np.diff(rows, axis=1) if self.increasing else -np.diff(rows, axis=1)
        return relative_to(rows, np.maximum(-steps, 0.0).max(axis=1, initial=0.0))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the order of neighbors."""
        axis = along(self.each)
        if B.shape[axis] == 1:
            return []
        steps = cp.diff(B, axis=axis)
        return [steps >= 0 if self.increasing else steps <= 0]

    def project(self, B: Array) -> Array:
        """Pool neighbors that are in the wrong order."""
        return by_rows(lambda rows: project_isotonic(rows, self.increasing), B, self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Set what is negative of the nearest point to zero, which is exact here."""
        return np.maximum(self.project(B), 0)

    def scaled(self, c: float) -> Monotone:
        """Return the same set: it is a cone."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return both directions of order and of pieces."""
        rise = np.array([[0.0, 1.0, 3.0], [-1.0, 0.0, 0.5]])
        return [
            Example(cls(), rise, rise[:, ::-1]),
            Example(cls(increasing=False), -rise, rise),
            Example(cls(each="sample"), rise.T, -rise.T),
        ]
