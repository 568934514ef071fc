"""`Strips`: a matrix in strips of columns that a crew holds."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conicnmf.strips.tally import Stats
from conicnmf.types import Array, Data, Mask, stored

if TYPE_CHECKING:
    from conicnmf.strips.crew import Crew

Operand: TypeAlias = tuple[int, Any]
"""A key, and what the rows of its strips are multiplied by, nothing where it is one."""


@dataclass(frozen=True, eq=False)
class Strips:
    """A matrix that a crew holds in strips of columns; it is never changed.

    Multiples cost nothing: rows are multiplied when a strip is looked at.
    """

    crew: Crew
    key: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    known: Stats | None = None
    scale: Any = None
    """A number, or one for each row in a column."""

    @property
    def operand(self) -> Operand:
        """What a crew needs to find the strips."""
        return self.key, self.scale

    def __mul__(self, factor: Any) -> Strips:
        """Return the matrix with its rows multiplied by a number, or by one each."""
        own = np.asarray(factor, dtype=self.dtype)
        return replace(self, scale=own if self.scale is None else own * self.scale)

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> Strips:
        """Return the matrix with its rows divided by a number, or by one each."""
        return self * (1 / np.asarray(factor))

    @cached_property
    def squares(self) -> Array:
        """The squared norms of the rows."""
        assert self.known is not None
        if self.scale is None:
            return self.known.squares
        return np.asarray(self.known.squares * np.ravel(self.scale).astype(np.float64) ** 2)

    def alive(self) -> Mask:
        """Return which rows are not zero."""
        assert self.known is not None
        return self.known.alive

    @cached_property
    def _range(self) -> tuple[float, float]:
        _, (low, high) = self.crew.run(_range_of, self, combine=_wider)
        return low, high

    def max(self, initial: float = -np.inf) -> float:
        """Return the largest entry."""
        return max(initial, self._range[1])

    def min(self, initial: float = np.inf) -> float:
        """Return the smallest entry."""
        return min(initial, self._range[0])

    def total(self, work: Callable[..., Any], *others: Strips) -> Any:
        """Return the sum over strips of what work(strip, ...) returns."""
        _, (found,) = self.crew.run(partial(_measured, work), self, *others)
        return found

    def largest(self, work: Callable[..., float]) -> float:
        """Return the largest of what work(strip) returns."""
        _, found = self.crew.run(partial(_measured_alone, work), self, combine=max)
        return float(found)

    def mapped(self, work: Callable[..., Array], *others: Strips) -> Strips:
        """Return the matrix of what work(strip, ...) returns."""
        made, _ = self.crew.run(partial(_made, work), self, *others, keep=True)
        assert isinstance(made, Strips)
        return made


def made(crew: Crew, key: int, known: Stats | None) -> Strips:
    """Return the matrix that a crew has made; it is forgotten when nothing refers to it any more."""
    assert known is not None
    weakref.finalize(known, crew.forget, key)
    return Strips(crew, key, (len(known.squares), known.columns), known.dtype, known)


def scaled_strip(strip: Any, scale: Any, own: bool = False) -> Any:
    """Return a strip as the matrix sees it; one of our own may be changed.

    Examples
    --------
    >>> strip = np.ones(2)
    >>> scaled_strip(strip, np.float64(2.0), own=True) is strip, strip
    (True, array([2., 2.]))
    """
    if scale is None:
        return strip
    if not own or np.ndim(scale):
        return strip * scale
    values = stored(getattr(strip, "values", strip))
    values *= scale
    return strip


def _measured(work: Callable[..., Any], k: int, *strips: Any) -> tuple[None, Any]:
    return None, (work(*strips),)


def _measured_alone(work: Callable[..., Any], k: int, *strips: Any) -> tuple[None, Any]:
    return None, work(*strips)


def _made(work: Callable[..., Array], k: int, *strips: Any) -> tuple[Array, Any]:
    return work(*strips), ()


def _range_of(k: int, strip: Data) -> tuple[None, tuple[float, float]]:
    values = stored(getattr(strip, "values", strip))
    return None, (float(values.min(initial=0.0)), float(values.max(initial=0.0)))


def _wider(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])
