"""`Strips`: a matrix in strips of columns that a crew holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conicnmf.strips.asked import DATA, Asked
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
    asked: Asked | None = None
    """The work that makes it; data are there."""
    scale: Any = None
    """A number, or one for each row in a column."""

    @property
    def key(self) -> int:
        """Under which the crew keeps it."""
        return DATA if self.asked is None else self.asked.key

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the whole matrix."""
        if self.asked is None:
            return self.crew.reader.shape
        return len(self._known.squares), self._known.columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        return self.crew.dtype if self.asked is None else self._known.dtype

    @property
    def _known(self) -> Stats:
        assert self.asked is not None
        return self.asked.stats

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
        if self.scale is None:
            return self._known.squares
        return np.asarray(self._known.squares * np.ravel(self.scale).astype(np.float64) ** 2)

    def alive(self) -> Mask:
        """Return which rows are not zero."""
        return self._known.alive

    def note(self, name: Any, asked: Asked) -> None:
        """Keep what was asked about a matrix that was just made, to be looked up by `noted`."""
        assert self.asked is not None
        assert self.scale is None
        self.asked.notes[name] = asked

    def noted(self, name: Any) -> Asked | None:
        """Return what was asked about the matrix whose multiple this is, if it was."""
        return None if self.asked is None else self.asked.notes.get(name)

    @cached_property
    def _range(self) -> tuple[float, float]:
        low, high = self.crew.run(_range_of, self, combine=_wider)
        return low, high

    def max(self, initial: float = -np.inf) -> float:
        """Return the largest entry."""
        return max(initial, self._range[1])

    def min(self, initial: float = np.inf) -> float:
        """Return the smallest entry."""
        return min(initial, self._range[0])

    def total(self, work: Callable[..., Any], *others: Strips) -> Any:
        """Return the sum over strips of what work(strip, ...) returns."""
        (found,) = self.summed(work, *others).total
        return found

    def summed(self, work: Callable[..., Any], *others: Strips) -> Asked:
        """Ask for that sum."""
        return self.crew.later(partial(_measured, work), self, *others)

    def largest(self, work: Callable[..., float]) -> Asked:
        """Ask for the largest of what work(strip) returns."""
        return self.crew.later(partial(_measured_alone, work), self, combine=max)

    def mapped(self, work: Callable[..., Array], *others: Strips) -> Strips:
        """Return the matrix of what work(strip, ...) returns."""
        return self.crew.later(partial(_made, work), self, *others, keep=True).matrix


@dataclass(eq=False)
class Visit:
    """A visit of one place, where the same multiple of a strip is made once."""

    look: Callable[[int, Any], Any]
    """look(key, scale) returns a strip as its matrix sees it."""
    seen: dict[tuple[int, int], Any] = field(default_factory=dict)

    def strips(self, operands: Sequence[Operand]) -> list[Any]:
        """Return the strips of some operands."""
        return [self._strip(key, scale) for key, scale in operands]

    def _strip(self, key: int, scale: Any) -> Any:
        name = key, id(scale)
        if name not in self.seen:
            self.seen[name] = self.look(key, scale)
        return self.seen[name]


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
