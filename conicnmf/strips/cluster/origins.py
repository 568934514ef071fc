"""How matrices came about, so that strips which are lost can be made again exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from conicnmf.strips.asked import DATA
from conicnmf.strips.matrix import Operand


@dataclass(eq=False)
class Origin:
    """A matrix by its key: work on others made it, or a copy of its strips is kept at home."""

    key: int
    packed: bytes | None = None
    """The tasks among which is the one that made it, nothing where there is a copy."""
    place: int = 0
    parents: tuple[Origin, ...] = ()
    """Those of the operands that are not data."""

    @property
    def depth(self) -> int:
        """How many works in a row are to be repeated to make it again."""
        return self._depth

    def __post_init__(self) -> None:
        own = 0 if self.packed is None else 1
        self._depth = own + max((parent.depth for parent in self.parents), default=0)

    def copied(self) -> None:
        """Note that a copy is kept at home: what came before is not needed any more."""
        self.packed, self.parents, self._depth = None, (), 0


@dataclass(frozen=True, eq=False)
class Step:
    """One matrix that is made again, and the keys that are not needed after it."""

    origin: Origin
    done_with: tuple[int, ...]


def steps_to(wanted: Iterable[Origin]) -> list[Step]:
    """Return in which order matrices are made again, and when those in between may go.

    Examples
    --------
    >>> first = Origin(1)
    >>> second = Origin(2, b"work", 0, (first,))
    >>> third = Origin(3, b"work", 1, (second,))
    >>> [(step.origin.key, step.done_with) for step in steps_to([third])]
    [(1, ()), (2, (1,)), (3, (2,))]
    """
    wanted = list(wanted)
    needed: dict[int, Origin] = {}
    waiting = list(wanted)
    while waiting:
        origin = waiting.pop()
        if origin.key not in needed:
            needed[origin.key] = origin
            waiting.extend(origin.parents)
    # A matrix has a higher key than all it was made of.
    order = [needed[key] for key in sorted(needed)]
    last_use: dict[int, int] = {}
    for place, origin in enumerate(order):
        last_use |= dict.fromkeys((parent.key for parent in origin.parents), place)
    kept = {origin.key for origin in wanted}
    return [
        Step(origin, tuple(k for k, last in last_use.items() if last == place and k not in kept))
        for place, origin in enumerate(order)
    ]


def parents_of(operands: Sequence[Operand], known: dict[int, Any]) -> tuple[Origin, ...]:
    """Return the origins of operands that are not data."""
    return tuple(known[key] for key in dict.fromkeys(key for key, _ in operands) if key != DATA)
