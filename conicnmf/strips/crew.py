"""What a crew is: it applies a function to every strip of some matrices, where the strips are."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conicnmf.strips.readers import Reader
from conicnmf.strips.tally import Combine, Tally
from conicnmf.types import Data

if TYPE_CHECKING:
    from conicnmf.strips.matrix import Operand, Strips

Work: TypeAlias = Callable[..., tuple[Any, Any]]
"""work(k, strip of each operand ...) returns a strip to keep, or nothing, and what is to be added."""

DATA = 0
"""The key of the data; other keys are those of matrices that were made."""


class LostStripsError(Exception):
    """No worker is left that could hold the strips and work on them."""


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
        self,
        work: Work,
        *matrices: Strips,
        keep: bool = False,
        passing: bool = False,
        combine: Combine = added,
    ) -> tuple[Any, Any]:
        """Apply work to all strips; return the matrix it makes where that is kept, and the sum.

        Strips are added up as the branches of one tree, so that the same strips give the same sum
        the workers that hold them. A matrix that is `passing` is needed for a short time only.
        """
        from conicnmf.strips.matrix import made

        key = next(self._keys) if keep else None
        operands = [matrix.operand for matrix in matrices]
        tally = self._run(work, operands, key, combine, passing)
        return (None if key is None else made(self, key, tally.stats)), tally.total

    @abstractmethod
    def _run(
        self,
        work: Work,
        operands: Sequence[Operand],
        key: int | None,
        combine: Combine,
        passing: bool,
    ) -> Tally:
        """Apply work to all strips, and keep under a key what it makes."""

    def made_by(self, made: Strips, work: Work, *matrices: Strips) -> None:  # noqa: B027
        """Hear of work that makes a matrix in one go, which was made in several."""

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
    def with_weights(self, weights: Any) -> Crew:
        """Return a crew of the same data whose strips come with weights of the entries."""

    def rest(self) -> None:  # noqa: B027, a crew may have nothing to do here
        """Let go of what is not worth being held while nothing is asked."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; what is asked next starts again."""


def as_strip(X: Data) -> Data:
    """Return loaded numbers as floats; single precision is kept."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _floats(kind: np.dtype[Any]) -> np.dtype[Any]:
    return kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
