"""Constraints on single entries: non-negative, box, fixed values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.terms import Constraint, Each, Example
from conicnmf.settings import Reads
from conicnmf.types import Array
from conicnmf.validate import as_numbers


class Entrywise(Constraint):
    """Bounds on every entry; subclasses say which."""

    each: Each = "entry"

    def violation(self, B: Array) -> Array:
        """Return the largest excess of each component, relative to the bounds or to B."""
        lower, upper = self.bounds()
        if lower.ndim or upper.ndim:
            excess = np.maximum(lower - B, B - upper).max(axis=1)
        else:  # by the extremes alone, without an array of the size of B
            excess = lower - B.min(axis=1)
            if upper < np.inf:
                excess = np.maximum(excess, B.max(axis=1) - upper)
        excess = np.maximum(excess, 0.0)
        if excess.any():
            excess /= self._size or np.abs(B).max() or 1.0
        return np.asarray(excess)

    @cached_property
    def _size(self) -> float:
        """The largest magnitude of any finite bound."""
        finite = [np.abs(bound[np.isfinite(bound)]).max(initial=0.0) for bound in self.bounds()]
        return float(max(finite))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the finite bounds as linear constraints, equal ones as equalities."""
        lower, upper = (np.broadcast_to(bound, B.shape) for bound in self.bounds())
        equal = lower == upper
        parts: list[cp.Constraint] = []
        for mask, sign, bound in (
            (equal, 0, lower),
            (np.isfinite(lower) & ~equal, 1, lower),
            (np.isfinite(upper) & ~equal, -1, upper),
        ):
            if not mask.any():
                continue
            entries, target = (B, bound) if mask.all() else (B[mask], bound[mask])
            if sign == 0:
                parts.append(entries == target)
            else:
                parts.append(sign * entries >= sign * target)
        return parts

    def project(self, B: Array) -> Array:
        """Clip every entry into its bounds."""
        lower, upper = self.bounds()
        return np.clip(B, lower, upper).astype(B.dtype, copy=False)


def _as_bound(given: Any, name: str) -> Array:
    bound = as_numbers(given, name).astype(float)
    if np.isnan(bound).any():
        raise InputError(f"{name} must be a number, got NaN; use -inf or inf for none")
    return bound


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether one value, one column or one row stands for all of them."""
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def _as_mask(given: Any, name: str) -> Any:
    mask: Any = as_numbers(given, name)
    if mask.dtype != bool:
        raise InputError(f"{name} must be a boolean array, got {mask.dtype}; compare with == 1")
    return mask


@dataclass(frozen=True)
class NonNegative(Entrywise):
    """Every entry is at least zero.

    Examples
    --------
    >>> import numpy as np
    >>> NonNegative().project(np.array([[-1.0, 2.0]]))
    array([[0., 2.]])
    """

    scale_free: ClassVar[bool] = True
    implies_nonnegative: ClassVar[bool] = True

    def bounds(self) -> tuple[Array, Array]:
        """Return zero and infinity."""
        return np.asarray(0.0), np.asarray(np.inf)

    def least_squares(self, G: Array, C: Array, B: Array) -> Array:
        """Search the active sets, from the support of B."""
        return nnls_gram(G, C, B)

    def scaled(self, c: float) -> NonNegative:
        """Return the same set, which is a cone."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a non-negative and a mixed matrix."""
        inside = np.array([[0.0, 1.0], [2.0, 3.0]])
        return [Example(cls(), inside, inside - 1)]


@dataclass(frozen=True, eq=False)
class Box(Entrywise):
    """Every entry lies between `lower` and `upper`, numbers or matrices of the factor's shape.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0, 1).project(np.array([[-1.0, 0.5, 2.0]]))
    array([[0. , 0.5, 1. ]])
    """

    lower: Annotated[Any, Reads(_as_bound)] = -np.inf
    upper: Annotated[Any, Reads(_as_bound)] = np.inf

    def check_settings(self) -> None:
        """Compare the two bounds."""
        lower, upper = self.lower, self.upper
        same = not lower.ndim or not upper.ndim or lower.shape == upper.shape
        remedy = "use a number for a bound on every entry"
        self.require(same, "bounds of one shape", "lower", "upper", remedy=remedy)
        in_order = bool((lower <= upper).all())
        self.require(in_order, "lower <= upper everywhere", "lower", "upper", remedy="swap them")

    def __repr__(self) -> str:
        return f"Box({_short(self.lower)}, {_short(self.upper)})"

    @property
    def sign_free(self) -> bool:
        """A box round zero does not depend on signs."""
        return bool(np.all(self.lower == -self.upper))

    def bounds(self) -> tuple[Array, Array]:
        """Return the two bounds."""
        return self.lower, self.upper

    def size(self) -> float:
        """Return the largest finite bound."""
        finite = (np.abs(bound[np.isfinite(bound)]) for bound in self.bounds())
        return max(float(bound.max(initial=0.0)) for bound in finite)

    def scaled(self, c: float) -> Box:
        """Scale the bounds."""
        return Box(c * self.lower, c * self.upper)

    def transposed(self) -> Box:
        """Transpose the bounds."""
        return replace(self, lower=self.lower.T, upper=self.upper.T)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless the bounds are numbers or have the factor's shape."""
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            _check_shape(f"Box {name}", bound, shape)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return scalar and matrix bounds."""
        upper = np.array([[1.0, 2.0], [3.0, 4.0]])
        return [
            Example(cls(0, 1), np.array([[0.2, 1.0]]), np.array([[0.2, 1.5]])),
            Example(cls(-1, upper), upper - 1, upper + 1),
        ]


@dataclass(frozen=True, eq=False)
class Fixed(Entrywise):
    """Entries where `mask` is true are equal to `values`; both have the factor's shape.

    Examples
    --------
    >>> import numpy as np
    >>> Fixed(np.array([[True, False]]), np.array([[5.0, 0.0]])).project(np.array([[1.0, 2.0]]))
    array([[5., 2.]])
    """

    mask: Annotated[Any, Reads(_as_mask)]
    values: Annotated[Any, Reads(as_numbers)]

    def check_settings(self) -> None:
        """Give every place of the mask its value."""
        rule, remedy = "one value or values of the mask's shape", "fill the rest with zeros"
        fits = _broadcasts(self.values.shape, self.mask.shape)
        self.require(fits, rule, "mask", "values", remedy=remedy)
        values = np.where(self.mask, self.values, 0.0)
        finite, remedy = bool(np.isfinite(values).all()), "mask NaN and inf out"
        self.require(finite, "finite values under the mask", "values", remedy=remedy)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"Fixed({int(self.mask.sum())} of {self.mask.size} entries)"

    def bounds(self) -> tuple[Array, Array]:
        """Return the values as both bounds under the mask, and none elsewhere."""
        return np.where(self.mask, self.values, -np.inf), np.where(self.mask, self.values, np.inf)

    def size(self) -> float:
        """Return the largest value."""
        return float(np.abs(self.values).max(initial=0.0))

    def scaled(self, c: float) -> Fixed:
        """Scale the values."""
        return Fixed(self.mask, c * self.values)

    def transposed(self) -> Fixed:
        """Transpose mask and values."""
        return replace(self, mask=self.mask.T, values=self.values.T)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless the mask has the factor's shape."""
        if self.mask.shape != shape:
            raise InputError(
                f"Fixed mask must have the factor's shape {shape}, got {self.mask.shape}; "
                "give W's mask as features × rank, H's as rank × samples"
            )

    @classmethod
    def examples(cls) -> list[Example]:
        """Return one fixed entry."""
        constraint = cls(np.array([[True, False]]), np.array([[0.5, 0.0]]))
        return [Example(constraint, np.array([[0.5, 3.0]]), np.array([[0.4, 3.0]]))]


def _check_shape(name: str, bound: Array, shape: tuple[int, int]) -> None:
    if bound.ndim and bound.shape != shape:
        raise InputError(
            f"{name} must be a number or have the factor's shape {shape}, got {bound.shape}; "
            "use np.broadcast_to"
        )


def _short(bound: Array) -> str:
    return f"{float(bound):g}" if bound.ndim == 0 else f"{bound.shape} array"
