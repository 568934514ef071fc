"""What a crew is: it applies a function to every strip of some matrices, where the strips are."""

from __future__ import annotations

import operator
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.strips.asked import DATA, Asked, Task, Work
from conicnmf.strips.readers import Reader
from conicnmf.strips.tally import Combine, Tally
from conicnmf.types import Data

if TYPE_CHECKING:
    from conicnmf.strips.matrix import Strips


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
        self._waiting: list[Asked] = []

    @property
    def data(self) -> Strips:
        """The data as a matrix in strips."""
        from conicnmf.strips.matrix import Strips

        return Strips(self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of loaded data."""
        kind = self.reader.dtype
        return kind if kind in (np.float32, np.float64) else np.dtype(np.float64)

    def later(
        self,
        work: Work,
        *matrices: Strips,
        keep: bool = False,
        passing: bool = False,
        combine: Combine = added,
    ) -> Asked:
        """Ask for work on all strips, which is done as soon as the outcome of any is looked at.

        Strips are added up as the branches of one tree, so that the same strips give the same sum
        whoever holds them. A matrix that is `passing` is needed for a short time only.
        """
        key = next(self._keys) if keep else None
        operands = [matrix.operand for matrix in matrices]
        asked = Asked(self, Task(work, operands, combine, key, passing), matrices)
        if key is not None:
            weakref.finalize(asked, self.forget, key)
        self._waiting.append(asked)
        return asked

    def settle(self) -> None:
        """Do all work that waits."""
        asked, self._waiting = self._waiting, []
        try:
            tallies = self._run([own.task for own in asked]) if asked else []
        except BaseException as error:
            for own in asked:
                own.ended(None, error)
            raise
        for own, tally in zip(asked, tallies, strict=True):
            own.ended(tally)

    def run(self, work: Work, *matrices: Strips, **options: Any) -> Any:
        """Apply work to all strips now, and return the sum."""
        return self.later(work, *matrices, **options).total

    @abstractmethod
    def _run(self, tasks: Sequence[Task]) -> list[Tally]:
        """Do tasks strip by strip, and keep under their keys what they make."""

    def _placed(self, key: int, tally: Tally) -> Strips:
        """Return a matrix whose strips were put in their place."""
        asked = Asked(self, Task(_no_work, (), tally.combine, key), tally=tally)
        weakref.finalize(asked, self.forget, key)
        return asked.matrix

    def made_by(self, made: Strips, work: Work, *matrices: Strips) -> None:  # noqa: B027
        """Note work that makes a matrix in one go, which was made in several steps."""

    @abstractmethod
    def place(self, X: Any) -> Strips:
        """Return a matrix in memory as strips."""

    @abstractmethod
    def gather(self, matrix: Strips) -> Any:
        """Return a matrix for the user: in memory where it fits, else where the crew keeps such."""

    @abstractmethod
    def forget(self, key: int) -> None:
        """Release a matrix."""

    @abstractmethod
    def with_weights(self, weights: Any) -> Crew:
        """Return a crew of the same data whose strips come with weights of the entries."""

    def rest(self) -> None:  # noqa: B027, a crew may have nothing to do here
        """Release what is not worth keeping while there is no work."""

    @abstractmethod
    def close(self) -> None:
        """Release everything; what is asked next starts again."""


def as_strip(X: Data) -> Data:
    """Return loaded numbers as floats; single precision is kept."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _no_work(k: int) -> tuple[None, None]:
    return None, None
