"""Step sizes that adapt: one gear a variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conicnmf._types import Array

_GROW, _SHRINK = 1.1, 0.5
_RUSH = 1.6
"""Growth before the first failure: the first step is a guess that may be far too short."""


@dataclass
class Gear:
    """The step of one variable, and for how many steps in a row its momentum has helped."""

    step: float
    age: int = 0
    growth: float = _RUSH

    def tries(self, momentum: float, halvings: int) -> Iterator[tuple[float, float]]:
        """Yield pairs of momentum and step: with momentum first, then ever shorter without.

        Taking a pair counts as a success until the next one is asked for.

        Examples
        --------
        >>> gear = Gear(1.0, age=9)
        >>> [pair for pair in gear.tries(0.5, 2)], gear
        ([(0.5, 1.0), (0.0, 1.0), (0.0, 0.5)], Gear(step=0.25, age=0, growth=1.1))
        """
        pull = min(momentum, self.age / (self.age + 3))
        if pull > 0:
            step = self.step
            self.age, self.step = self.age + 1, step * self.growth
            yield pull, step
            self.step, self.growth = step, _GROW
        for _ in range(halvings):
            step = self.step
            self.age, self.step = 1, step * self.growth
            yield 0.0, step
            self.age, self.step, self.growth = 0, step * _SHRINK, _GROW


Gears = dict[str, Gear]


def pack_gears(gears: Gears) -> dict[str, Array]:
    """Return gears as arrays.

    Examples
    --------
    >>> unpack_gears(pack_gears({"W": Gear(0.5, 3)}) | {"other": np.ones(2)})
    {'W': Gear(step=0.5, age=3, growth=1.6)}
    """
    return {
        f"gear_{name}": np.array([gear.step, gear.age, gear.growth]) for name, gear in gears.items()
    }


def unpack_gears(arrays: dict[str, Array]) -> Gears:
    """Return the gears among arrays."""
    return {
        name.removeprefix("gear_"): Gear(float(kept[0]), int(kept[1]), float(kept[2]))
        for name, kept in arrays.items()
        if name.startswith("gear_")
    }
