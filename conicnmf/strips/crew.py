"""What a crew is: it applies a function to every strip of some matrices, where the strips are."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conicnmf.strips.readers import Reader
from conicnmf.types import Array, Data, Mask

if TYPE_CHECKING:
    from conicnmf.strips.matrix import Operand, Strips

Work: TypeAlias = Callable[..., tuple[Any, Any]]
"""work(k, strip of each operand ...) returns a strip to keep, or nothing, and what is to be added."""
Combine: TypeAlias = Callable[[Any, Any], Any]

DATA = 0
"""The key of the data; other keys are those of matrices that were made."""


class LostStripsError(Exception):
    """Strips that were made are gone with the process that held them; the data are loaded again."""


def added(one: Any, other: Any) -> Any:
    """Return the sum of two results, part by part where they are tuples of the same length.

    Examples
    --------
    >>> added((1.0, 2.0), (3.0, 4.0))
    (4.0, 6.0)
    """
    return tuple(map(operator.add, one, other))


class Crew(ABC):
    """Who holds the strips of matrices by key, and works on them in their order."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._keys = count(DATA + 1)

    @property
    def data(self) -> Strips:
        """The data as a matrix in strips."""
        from conicnmf.strips.matrix import Strips

        return Strips(self, DATA, self.reader.shape, _floats(self.reader.dtype))

    def run(
        self, work: Work, *matrices: Strips, keep: bool = False, combine: Combine = added
    ) -> tuple[Any, Any]:
        """Apply work to all strips; return the matrix it makes where that is kept, and the sum.

        Strips are added up in their order, so that the same strips give the same sum.
        """
        from conicnmf.strips.matrix import made

        key = next(self._keys) if keep else None
        operands = [matrix.operand for matrix in matrices]
        tally = self._run(work, operands, key, combine)
        return (None if key is None else made(self, key, tally.stats)), tally.total

    @abstractmethod
    def _run(
        self, work: Work, operands: Sequence[Operand], key: int | None, combine: Combine
    ) -> Tally:
        """Apply work to all strips, and keep under a key what it makes."""

    @abstractmethod
    def place(self, X: Any) -> Strips:
        """Return a matrix in memory as strips."""

    @abstractmethod
    def gather(self, matrix: Strips) -> Any:
        """Return a matrix for the user: in memory where it fits, else where the crew keeps such."""

    @abstractmethod
    def forget(self, key: int) -> None:
        """Let go of a matrix."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; what is asked next begins anew."""


def as_strip(X: Data) -> Data:
    """Return loaded numbers as floats; single precision is kept."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _floats(kind: np.dtype[Any]) -> np.dtype[Any]:
    return kind if kind in (np.float32, np.float64) else np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Stats:
    """What is known of strips since they were made: columns, squared norms of rows, rows alive."""

    columns: int
    squares: Array
    alive: Mask
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, strip: Array) -> Stats:
        """Look at one strip."""
        squares = np.einsum("ij,ij->i", strip, strip, dtype=np.float64)
        return cls(strip.shape[1], squares, np.asarray(strip.any(axis=1)), strip.dtype)

    def and_of(self, other: Stats) -> Stats:
        """Return what is known of both together."""
        squares, alive = self.squares + other.squares, self.alive | other.alive
        return Stats(self.columns + other.columns, squares, alive, self.dtype)


@dataclass(eq=False)
class Tally:
    """What strips have given so far."""

    combine: Combine
    stats: Stats | None = None
    total: Any = None
    begun: bool = False

    def add(self, kept: Stats | None, found: Any) -> None:
        """Add what one more strip has given."""
        if kept is not None:
            self.stats = kept if self.stats is None else self.stats.and_of(kept)
        self.total = self.combine(self.total, found) if self.begun else found
        self.begun = True
