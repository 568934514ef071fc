"""Step sizes that adapt: one gear a variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conicnmf._types import Array

_GROW, _SHRINK = 1.1, 0.5


@dataclass
class Gear:
    """The step of one variable, and for how many steps in a row its momentum has helped."""

    step: float
    age: int = 0

    def tries(self, momentum: float, halvings: int) -> Iterator[tuple[float, float]]:
        """Yield pairs of momentum and step: with momentum first, then ever shorter without.

        Taking a pair counts as a success until the next one is asked for.

        Examples
        --------
        >>> gear = Gear(1.0, age=9)
        >>> [pair for pair in gear.tries(0.5, 2)], gear
        ([(0.5, 1.0), (0.0, 1.0), (0.0, 0.5)], Gear(step=0.25, age=0))
        """
        pull = min(momentum, self.age / (self.age + 3))
        if pull > 0:
            step = self.step
            self.age, self.step = self.age + 1, step * _GROW
            yield pull, step
            self.step = step
        for _ in range(halvings):
            step = self.step
            self.age, self.step = 1, step * _GROW
            yield 0.0, step
            self.age, self.step = 0, step * _SHRINK


Gears = dict[str, Gear]


def pack_gears(gears: Gears) -> dict[str, Array]:
    """Return gears as arrays.

    Examples
    --------
    >>> unpack_gears(pack_gears({"W": Gear(0.5, 3)}) | {"other": np.ones(2)})
    {'W': Gear(step=0.5, age=3)}
    """
    return {f"gear_{name}": np.array([gear.step, gear.age]) for name, gear in gears.items()}


def unpack_gears(arrays: dict[str, Array]) -> Gears:
    """Return the gears among arrays."""
    return {
        name.removeprefix("gear_"): Gear(float(pair[0]), int(pair[1]))
        for name, pair in arrays.items()
        if name.startswith("gear_")
    }
