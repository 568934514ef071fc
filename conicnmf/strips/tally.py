"""Sums over strips that do not depend on who holds which strips."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from conicnmf.types import Array, Mask

Combine: TypeAlias = Callable[[Any, Any], Any]


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
        squares = np.vecdot(strip, strip).astype(np.float64)
        return cls(strip.shape[1], squares, np.asarray(strip.any(axis=1)), strip.dtype)

    def and_of(self, other: Stats) -> Stats:
        """Return what is known of both together."""
        squares, alive = self.squares + other.squares, self.alive | other.alive
        return Stats(self.columns + other.columns, squares, alive, self.dtype)


@dataclass(frozen=True, eq=False)
class Branch:
    """What the strips from one on have given together; their number is a power of two."""

    first: int
    size: int
    stats: Stats | None
    total: Any

    def is_sibling(self, other: Branch) -> bool:
        """Whether the other branch is what comes next in the same larger branch."""
        meet = self.first + self.size == other.first and self.size == other.size
        return meet and self.first % (2 * self.size) == 0

    def joined(self, other: Branch, combine: Combine) -> Branch:
        """Return both as one."""
        stats = self.stats
        if stats is not None and other.stats is not None:
            stats = stats.and_of(other.stats)
        return Branch(self.first, self.size + other.size, stats, combine(self.total, other.total))


@dataclass(eq=False)
class Tally:
    """What strips have given so far, as branches of a tree whose leaves are the strips in order.

    Numbers that are added in another order have another last digit. The tree is one for all crews,
    and a worker with many strips sends a few branches instead of all leaves.

    Examples
    --------
    >>> mine, yours = Tally(max), Tally(max)
    >>> for k in range(3):
    ...     mine.add(k, None, 10 * k)
    >>> yours.add(3, None, 5)
    >>> [branch.size for branch in mine.branches]
    [2, 1]
    >>> whole = Tally.grown(max, [*yours.branches, *mine.branches])
    >>> len(whole.branches), whole.total
    (1, 20)
    """

    combine: Combine
    branches: list[Branch] = field(default_factory=list)

    @classmethod
    def grown(cls, combine: Combine, branches: Iterable[Branch]) -> Tally:
        """Return the tree of branches that come in any order."""
        own = cls(combine)
        for branch in sorted(branches, key=lambda branch: branch.first):
            own._join(branch)
        return own

    def add(self, k: int, kept: Stats | None, found: Any) -> None:
        """Add what one more strip has given; strips come in their order."""
        self._join(Branch(k, 1, kept, found))

    def _join(self, branch: Branch) -> None:
        while self.branches and self.branches[-1].is_sibling(branch):
            branch = self.branches.pop().joined(branch, self.combine)
        self.branches.append(branch)

    @property
    def total(self) -> Any:
        """What all strips have given."""
        return self._whole.total

    @property
    def stats(self) -> Stats | None:
        """What is known of all strips that were kept."""
        return self._whole.stats

    @property
    def _whole(self) -> Branch:
        whole, *others = self.branches
        for branch in others:
            whole = whole.joined(branch, self.combine)
        return whole
