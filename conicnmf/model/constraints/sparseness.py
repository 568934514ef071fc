"""Hoyer sparseness bands: a second-order cone above, a reverse-convex set below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.geometry.band import project_band
from conicnmf.geometry.cones import cone_ratio, tangent_normals
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.model.terms import Constraint, Example, Halfspaces, Pieces, by_rows, pieces
from conicnmf.model.tolerances import INSIDE
from conicnmf.types import Array, Mask

_INTERIOR = 0.02


@dataclass(frozen=True)
class Sparseness(Constraint):
    """Each component has Hoyer sparseness at least `min` and at most `max`.

    The sparseness of x in Rⁿ is (√n − ‖x‖₁/‖x‖₂)/(√n − 1): 0 when all entries are equal in
    magnitude, 1 when one entry is non-zero. It is undefined at zero. An upper bound alone is a
    convex cone, with zero in it; a lower bound forbids zero. Pieces of length one have no
    sparseness: there the band is left out, with a warning.

    Parameters
    ----------
    min, max : float
        The band, 0 <= min <= max <= 1; equal values prescribe the sparseness.
    each : {"component", "sample"}
        Columns of W and rows of H, or columns of H and rows of W.

    Examples
    --------
    >>> import numpy as np
    >>> Sparseness(min=0.5).violation(np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]]))
    array([0.5, 0. ])
    """

    min: float = 0.0
    max: float = 1.0
    each: Pieces = "component"
    orthant_only: ClassVar[bool] = True
    sign_free: ClassVar[bool] = True
    scale_free: ClassVar[bool] = True

    def check_settings(self) -> None:
        """Compare the two bounds."""
        holds, remedy = 0 <= self.min <= self.max <= 1, "0 is dense, 1 has one non-zero entry"
        self.require(holds, "0 <= min <= max <= 1", "min", "max", remedy=remedy)

    @property
    def convex(self) -> bool:
        """Only a band without a lower bound is convex, on the non-negative orthant."""
        return self.min == 0

    def band(self) -> tuple[float, float]:
        """Return the two bounds."""
        return self.min, self.max

    def idle(self, shape: tuple[int, int]) -> str:
        """Return a reason where the pieces are single numbers."""
        single = shape[1 if self.each == "component" else 0] == 1
        return f"each {self.each} has length one, where sparseness says nothing" if single else ""

    def with_interior(self) -> Sparseness:
        """Widen prescribed sparseness to a narrow band, so that cone programs have an interior."""
        if self.min > 0 and self.max < self.min + _INTERIOR:
            return replace(self, max=min(1.0, self.min + _INTERIOR))
        return self

    def violation(self, B: Array) -> Array:
        """Return the distance of each component's sparseness to the band; 1 for a forbidden zero."""
        rows = pieces(B, self.each)
        if rows.shape[1] == 1:
            return np.zeros(len(rows))
        s = hoyer_sparseness(np.ascontiguousarray(rows))
        excess = np.maximum(np.maximum(self.min - s, s - self.max), 0.0)
        return np.where(np.isnan(s), float(self.min > 0), excess)

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the upper bound, c‖b‖₂ ≤ eᵀb for each component b ≥ 0."""
        rows = B if self.each == "component" else B.T
        n = rows.shape[1]
        if self.max == 1 or n == 1:
            return []
        c = cone_ratio(n, self.max)
        return [cp.SOC(cp.sum(rows, axis=1), c * rows, axis=1)]

    def smooth(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return both bounds by squares, (eᵀb)² between c²‖b‖² at the two ends, for b ≥ 0."""
        rows = B if self.each == "component" else B.T
        low, high = (cone_ratio(rows.shape[1], s) ** 2 for s in (self.min, self.max))
        parts: list[cp.Constraint] = []
        for j in range(rows.shape[0]):
            total, squares = cp.square(cp.sum(rows[j])), cp.sum_squares(rows[j])
            parts += [total <= low * squares] if self.min > 0 else []
            parts += [high * squares <= total] if self.max < 1 else []
        return parts

    def project(self, B: Array) -> Array:
        """Return the nearest magnitudes in the band, with the signs of B."""
        rows = np.ascontiguousarray(pieces(B, self.each))
        projected, _ = project_band(np.abs(rows), self.min, self.max)
        return pieces(np.copysign(projected, rows), self.each)

    def project_nonneg(self, B: Array) -> Array:
        """Return the nearest point in the band; zero, where it is the limit of near ones."""
        return by_rows(lambda rows: project_band(rows, self.min, self.max)[0], B, self.each)

    def tangent(self, P: Array) -> Halfspaces:
        """Return the half-space of each component that avoids the cone of sparseness < min."""
        rows = pieces(P, self.each)
        if rows.shape[1] == 1:
            return Halfspaces(np.zeros_like(P), self.each)
        return Halfspaces(pieces(tangent_normals(rows, self.min), self.each), self.each)

    def cut_off(self, B: Array) -> tuple[Halfspaces, Mask]:
        """Return the tangent planes of the cone of sparseness ≤ max where B lies beyond it.

        The gauge ‖x‖ − eᵀx/c is convex, so ⟨p/‖p‖ − e/c, x⟩ ≤ 0 holds in the whole cone.
        """
        rows = pieces(B, self.each)
        normals = pieces(-tangent_normals(rows, self.max), self.each)
        broken = replace(self, min=0.0).violation(B) > INSIDE
        return Halfspaces(normals, self.each), broken

    def meet(self, other: Constraint) -> Sparseness | None:
        """Return what is left of two bands of the same pieces."""
        if not isinstance(other, Sparseness) or other.each != self.each:
            return None
        low, high = max(self.min, other.min), min(self.max, other.max)
        if low > high:
            raise InfeasibleError(
                f"{self} and {other} contradict each other: no sparseness is at least {low:g} and "
                f"at most {high:g}; relax one of them"
            )
        return replace(self, min=low, max=high)

    def without_convex_part(self) -> Sparseness:
        """Return the lower bound alone."""
        return replace(self, max=1.0)

    def scaled(self, c: float) -> Sparseness:
        """Return the same band, which is a cone."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return bands below, above and between, for both directions."""
        dense, sparse = np.full((1, 9), 0.5), np.eye(1, 9)
        middle = np.array([[1.0, 1, 0, 0, 0, 0, 0, 0, 0]])
        return [
            Example(cls(min=0.5), middle, dense),
            Example(cls(max=0.5), dense, sparse),
            Example(cls(min=0.6, max=0.9), middle, dense),
            Example(cls(min=0.5, each="sample"), middle.T, dense.T),
        ]
