"""Sizes of matrices from each other: of the same product they must meet, and some are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from conicnmf.errors import InputError

Side = tuple[str, int]
"""The rows (0) or the columns (1) of a matrix."""


@dataclass
class Sizes:
    """Sides of matrices in groups of equal size; a group may know its size, and from where.

    Examples
    --------
    >>> sizes = Sizes()
    >>> sizes.join(("W", 1), ("H", 0))
    >>> sizes.know(("H", 0), 4, "rank")
    >>> sizes.of(("W", 1))
    4
    """

    _parents: dict[Side, Side] = field(default_factory=dict)
    _known: dict[Side, tuple[int, str]] = field(default_factory=dict)

    def _root(self, side: Side) -> Side:
        while side in self._parents:
            side = self._parents[side]
        return side

    def join(self, one: Side, other: Side) -> None:
        """Say that two sides have the same size."""
        first, second = self._root(one), self._root(other)
        if first == second:
            return
        known = self._known.pop(first, None)
        self._parents[first] = second
        if known is not None:
            self._agree(second, *known, about=other)

    def know(self, side: Side, size: int, why: str) -> None:
        """Say what a size is, and from where that is known."""
        self._agree(self._root(side), size, why, about=side)

    def _agree(self, root: Side, size: int, why: str, about: Side) -> None:
        old = self._known.setdefault(root, (size, why))
        if old[0] != size:
            raise InputError(
                f"{shown(about)} must be one number, got {old[0]} by {old[1]} and {size} by {why}; "
                "change a shape, the rank or the order of the product"
            )

    def of(self, side: Side) -> int | None:
        """Return a size, nothing when it is not known."""
        known = self._known.get(self._root(side))
        return None if known is None else known[0]


def shown(side: Side) -> str:
    """Return a side in words."""
    return f"the number of {'columns' if side[1] else 'rows'} of {side[0]}"
