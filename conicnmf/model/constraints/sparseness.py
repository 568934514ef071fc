"""Hoyer sparseness bands: a second-order cone above, a reverse-convex set below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any, ClassVar, TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from conicnmf.errors import InfeasibleError, InputError
from conicnmf.geometry.band import project_band
from conicnmf.geometry.cones import cone_ratio, cone_ratios, tangent_normals
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.geometry.long_rows import LongRows
from conicnmf.model.constraints.reverse_convex import ReverseConvex
from conicnmf.model.terms import Constraint, Example, Halfspaces, Pieces, by_rows, pieces
from conicnmf.model.tolerances import INSIDE
from conicnmf.settings import Reads, shown
from conicnmf.types import Array, Mask
from conicnmf.validate import as_numbers

_INTERIOR = 0.02


def as_level(value: Any, name: str) -> float | tuple[float, ...]:
    """Return a bound on sparseness as a number, or as a tuple with one for each piece.

    Examples
    --------
    >>> as_level([0.5, 1], "min"), as_level(1, "min")
    ((0.5, 1.0), 1.0)
    """
    levels = np.asarray(float(value)) if _is_number(value) else as_numbers(value, name)
    if levels.ndim > 1 or not levels.size or not np.isfinite(levels).all():
        raise InputError(
            f"{name} must be a finite number, or a vector with one for each piece, got "
            f"{shown(value)}; write 0.5, or [0.5, 0.7] for two components"
        )
    return tuple(map(float, levels)) if levels.ndim else float(levels)


def _is_number(value: Any) -> bool:
    kind: Any = type(value)
    # Whole numbers beyond the largest float are left to what refuses them.
    huge = kind is int and abs(value) > 1e300
    return kind is not bool and issubclass(kind, Real) and not huge


Level: TypeAlias = Annotated[ArrayLike, Reads(as_level)]


@dataclass(frozen=True)
class Sparseness(Constraint):
    """Each component has Hoyer sparseness at least `min` and at most `max`.

    The sparseness of x in Rⁿ is (√n − ‖x‖₁/‖x‖₂)/(√n − 1): 0 when all entries are equal in
    magnitude, 1 when one entry is non-zero. It is undefined at zero. An upper bound alone is a
    convex cone, with zero in it; a lower bound forbids zero. Pieces of length one have no
    sparseness: there the band is left out, with a warning.

    Parameters
    ----------
    min, max : float or sequence of float
        The band, 0 <= min <= max <= 1; equal values prescribe the sparseness. A sequence has a
        number for each component (or sample); 0 as a minimum or 1 as a maximum is no bound.
    each : {"component", "sample"}
        Columns of W and rows of H, or columns of H and rows of W.

    Examples
    --------
    >>> import numpy as np
    >>> Sparseness(min=0.5).violation(np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]]))
    array([0.5, 0. ])
    >>> Sparseness(min=[0.0, 0.7]).violation(np.array([[1.0, 1.0], [1.0, 1.0]]))
    array([0. , 0.7])
    """

    min: Level = 0.0
    max: Level = 1.0
    each: Pieces = "component"
    orthant_only: ClassVar[bool] = True
    sign_free: ClassVar[bool] = True
    scale_free: ClassVar[bool] = True

    def check_settings(self) -> None:
        """Compare the two bounds."""
        low, high = self.band()
        same = not low.ndim or not high.ndim or low.size == high.size
        remedy = "give a number for each piece in both, or one for all"
        self.require(same, "min and max of the same length", "min", "max", remedy=remedy)
        holds = bool(((low >= 0) & (low <= high) & (high <= 1)).all())
        remedy = "0 is dense, 1 has one non-zero entry"
        self.require(holds, "0 <= min <= max <= 1", "min", "max", remedy=remedy)

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise an `InputError` unless there are as many levels as pieces."""
        count = shape[0 if self.each == "component" else 1]
        for name, level in zip(("min", "max"), self.band(), strict=True):
            if level.ndim and level.size != count:
                raise InputError(
                    f"{self} needs a level for each {self.each}, got {level.size} in {name} for "
                    f"{count}; give one number for all, or {count}"
                )

    @property
    def convex(self) -> bool:
        """Only a band without a lower bound is convex, on the non-negative orthant."""
        return not np.any(self.min)

    def band(self) -> tuple[Array, Array]:
        """Return the two bounds."""
        return np.asarray(self.min), np.asarray(self.max)

    def of(self, components: slice) -> Sparseness:
        """Return the band of these components alone."""
        low, high = self.band()
        if self.each == "sample" or not (low.ndim or high.ndim):
            return self
        return self.between(*(x[components] if x.ndim else x for x in (low, high)))

    def between(self, low: Array, high: Array) -> Sparseness:
        """Return the band of the same pieces between other bounds."""
        return replace(self, min=as_level(low, "min"), max=as_level(high, "max"))

    def idle(self, shape: tuple[int, int]) -> str:
        """Return a reason where the pieces are single numbers."""
        single = shape[1 if self.each == "component" else 0] == 1
        return (
            f"each {self.each} has length one, for which sparseness is undefined" if single else ""
        )

    def with_interior(self) -> Sparseness:
        """Widen prescribed sparseness to a narrow band, so that cone programs have an interior."""
        low, high = self.band()
        narrow = (low > 0) & (high < low + _INTERIOR)
        if not narrow.any():
            return self
        return self.between(low, np.where(narrow, np.minimum(1.0, low + _INTERIOR), high))

    def violation(self, B: Array) -> Array:
        """Return the distance of each component's sparseness to the band; 1 for a forbidden zero."""
        rows = pieces(B, self.each)
        if rows.shape[1] == 1:
            return np.zeros(len(rows))
        return self._beyond(hoyer_sparseness(np.ascontiguousarray(rows)))

    def violation_of_rows(self, rows: LongRows) -> Array:
        """Return the same for components that are not negative and in several places."""
        return self._beyond(rows.sparseness())

    def _beyond(self, s: Array) -> Array:
        low, high = self.band()
        excess = np.maximum(np.maximum(low - s, s - high), 0.0)
        zero = np.isnan(s)
        return np.where(zero, (low > 0).astype(float), excess) if zero.any() else excess

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the upper bound, c‖b‖₂ ≤ eᵀb for each component b ≥ 0."""
        rows = B if self.each == "component" else B.T
        k, n = rows.shape
        high = np.broadcast_to(self.max, k)
        held = np.flatnonzero(high < 1)
        if not held.size or n == 1:
            return []
        own = rows if held.size == k else rows[held]
        ratios = cone_ratios(n, high[held])
        scaled = cp.multiply(ratios[:, None], own) if np.ptp(ratios) else float(ratios[0]) * own
        return [cp.SOC(cp.sum(own, axis=1), scaled, axis=1)]

    def smooth(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return both bounds by squares, (eᵀb)² between c²‖b‖² at the two ends, for b ≥ 0."""
        rows = B if self.each == "component" else B.T
        k, n = rows.shape
        low, high = (np.broadcast_to(level, k) for level in self.band())
        least, most = cone_ratios(n, high) ** 2, cone_ratios(n, low) ** 2
        parts: list[cp.Constraint] = []
        for j in range(k):
            total, squares = cp.square(cp.sum(rows[j])), cp.sum_squares(rows[j])
            parts += [total <= most[j] * squares] if low[j] > 0 else []
            parts += [least[j] * squares <= total] if high[j] < 1 else []
        return parts

    def any_sign(self) -> Constraint:
        """Return ‖b‖₁ between c‖b‖ at the two ends; a prescribed value has no room and stays."""
        low, high = self.band()
        narrow = (low > 0) & (high < low + _INTERIOR)
        return self if narrow.any() else ReverseConvex(self._between_norms, name=str(self))

    def _between_norms(self, B: cp.Expression) -> list[cp.Constraint]:
        rows = B if self.each == "component" else B.T
        k, n = rows.shape
        low, high = (np.broadcast_to(level, k) for level in self.band())
        parts: list[cp.Constraint] = []
        for j in range(k):
            size, length = cp.norm1(rows[j]), cp.norm2(rows[j])
            parts += [size <= cone_ratio(n, float(low[j])) * length] if low[j] > 0 else []
            parts += [size >= cone_ratio(n, float(high[j])) * length] if high[j] < 1 else []
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
        (low, high), (least, most) = self.band(), other.band()
        low, high = np.broadcast_arrays(np.maximum(low, least), np.minimum(high, most))
        if (low > high).any():
            j = np.argmax(low > high)
            raise InfeasibleError(
                f"{self} and {other} contradict each other: no sparseness is at least "
                f"{low.flat[j]:g} and at most {high.flat[j]:g}; relax one of them"
            )
        return self.between(low, high)

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
            Example(
                cls(min=[0.0, 0.6], max=[0.5, 1.0]),
                np.vstack([dense, middle]),
                np.vstack([sparse, dense]),
            ),
        ]
