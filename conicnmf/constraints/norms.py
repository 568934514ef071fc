"""Euclidean norms of components: the ball and the sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf._types import Array
from conicnmf.errors import InputError
from conicnmf.kernels.norms import project_norm_ball, project_unit_norm
from conicnmf.terms import Constraint, Each, Example, check_each, pieces


@dataclass(frozen=True)
class NormBall(Constraint):
    """Each component has Euclidean norm at most `radius`.

    Examples
    --------
    >>> import numpy as np
    >>> NormBall().project(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    radius: float = 1.0
    each: Each = "component"
    sign_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"NormBall needs a positive finite radius, got {self.radius}; use 1")
        check_each(self.each, "NormBall")

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
    """Each component has Euclidean norm one.

    Examples
    --------
    >>> import numpy as np
    >>> UnitNorm().project(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    each: Each = "component"
    sign_free: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_each(self.each, "UnitNorm")

    @property
    def convex(self) -> bool:
        """The sphere is not convex."""
        return False

    def violation(self, B: Array) -> Array:
        """Return the distance of each norm from one."""
        return np.asarray(np.abs(np.linalg.norm(pieces(B, self.each), axis=1) - 1))

    def project(self, B: Array) -> Array:
        """Rescale each component; zero becomes the first axis."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        return pieces(project_unit_norm(rows), self.each)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return points on and off the sphere."""
        inside = np.array([[0.6, 0.8], [1.0, 0.0]])
        return [Example(cls(), inside, 2 * inside)]
