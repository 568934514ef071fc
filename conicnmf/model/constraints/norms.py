"""Euclidean norms of components: the ball and the sphere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.geometry.long_rows import LongRows
from conicnmf.geometry.norms import (
    project_norm_ball,
    project_unit_norm,
    project_unit_norm_within,
)
from conicnmf.model.terms import Constraint, Example, Pieces, by_rows, pieces
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class NormBall(Constraint):
    """Each component has Euclidean norm at most `radius`.

    Examples
    --------
    >>> import numpy as np
    >>> NormBall().project(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    radius: Positive = 1.0
    each: Pieces = "component"
    sign_free: ClassVar[bool] = True

    def violation(self, B: Array) -> Array:
        """Return the relative excess of each norm."""
        norms = np.linalg.norm(pieces(B, self.each), axis=1)
        return np.asarray(np.maximum(norms / self.radius - 1, 0.0))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return one second-order cone for each component."""
        return [cp.norm(B, 2, axis=1 if self.each == "component" else 0) <= self.radius]

    def project(self, B: Array) -> Array:
        """Shrink the components that are too long."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(project_norm_ball(rows, self.radius), self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Set negative entries to zero first."""
        return self.project(np.maximum(B, 0))

    def violation_of_rows(self, rows: LongRows) -> Array:
        """Return the relative excess of each norm."""
        return np.asarray(np.maximum(rows.lengths / self.radius - 1, 0.0))

    def lengths_of_rows(self, lengths: Array) -> Array:
        """Shorten what is too long."""
        return np.minimum(lengths, self.radius)

    def size(self) -> float:
        """Return the radius."""
        return self.radius

    def scaled(self, c: float) -> NormBall:
        """Scale the radius."""
        return replace(self, radius=c * self.radius)

    def meet(self, other: Constraint) -> NormBall | None:
        """Return the smaller of two balls of the same pieces."""
        if not isinstance(other, NormBall) or other.each != self.each:
            return None
        return replace(self, radius=min(self.radius, other.radius))

    @classmethod
    def examples(cls) -> list[Example]:
        """Return both directions."""
        inside = np.array([[0.6, 0.8], [0.1, 0.2]])
        return [
            Example(cls(), inside, 2 * inside),
            Example(cls(2.0, each="sample"), inside, 5 * inside),
        ]


@dataclass(frozen=True)
class UnitNorm(Constraint):
    """Each component has Euclidean norm one, or another `length`.

    Examples
    --------
    >>> import numpy as np
    >>> UnitNorm().project(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    each: Pieces = "component"
    length: Positive = field(default=1.0, kw_only=True)
    sign_free: ClassVar[bool] = True

    def __repr__(self) -> str:
        length = "" if self.length == 1 else f", length={self.length:g}"
        return f"UnitNorm(each={self.each!r}{length})"

    @property
    def convex(self) -> bool:
        """The sphere is not convex."""
        return False

    def violation(self, B: Array) -> Array:
        """Return the distance of each norm from the length, relative to it."""
        norms = np.linalg.norm(pieces(B, self.each), axis=1)
        return np.asarray(np.abs(norms / self.length - 1))

    def project(self, B: Array) -> Array:
        """Rescale each component; zero becomes the first axis."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(self.stretched(project_unit_norm(rows)), self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Rescale what is positive; a component without that becomes its largest entry alone."""
        unit = by_rows(lambda rows: project_unit_norm(rows, nonneg=True), B, self.each)
        return self.stretched(unit)

    def project_within(self, B: Array, lower: Array, upper: Array) -> Array:
        """Return the nearest point of this length within bounds on the entries."""
        rows, low, high = (
            np.ascontiguousarray(pieces(X, self.each))
            for X in (B, *(np.broadcast_to(bound, B.shape) for bound in (lower, upper)))
        )
        unit = project_unit_norm_within(rows, low / self.length, high / self.length)
        return pieces(self.stretched(unit), self.each)

    def stretched(self, directions: Array) -> Array:
        """Return unit vectors at the length that is asked for."""
        return directions if self.length == 1 else directions * directions.dtype.type(self.length)

    def violation_of_rows(self, rows: LongRows) -> Array:
        """Return the distance of each norm from the length, relative to it."""
        return np.asarray(np.abs(rows.lengths / self.length - 1))

    def lengths_of_rows(self, lengths: Array) -> Array:
        """Return the length for all."""
        return np.full_like(lengths, self.length)

    def size(self) -> float:
        """Return the length."""
        return self.length

    def scaled(self, c: float) -> UnitNorm:
        """Scale the length."""
        return replace(self, length=c * self.length)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return points on and off the sphere."""
        inside = np.array([[0.6, 0.8], [1.0, 0.0]])
        return [Example(cls(), inside, 2 * inside)]
