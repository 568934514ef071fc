"""Step sizes that adapt: one step_size a variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conicnmf.types import Array

_GROW, _SHRINK = 1.05, 0.5
_RUSH = 1.6
"""Growth before the first failure: the first step is a guess that may be far too short."""


@dataclass
class StepSize:
    """The step of one variable, and for how many steps in a row its momentum has helped."""

    step: float
    age: int = 0
    growth: float = _RUSH

    def tries(self, momentum: float, halvings: int) -> Iterator[tuple[float, float]]:
        """Yield pairs of momentum and step: with momentum first, then ever shorter without.

        Taking a pair counts as a success until the next one is asked for.

        Examples
        --------
        >>> step_size = StepSize(1.0, age=9)
        >>> [pair for pair in step_size.tries(0.5, 2)], step_size
        ([(0.5, 1.0), (0.0, 1.0), (0.0, 0.5)], StepSize(step=0.25, age=0, growth=1.05))
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

    def bold_then_safe(self, momentum: float, safe: float) -> Iterator[tuple[float, float]]:
        """Yield momentum with a long step, and then none with the step that needs no test.

        Examples
        --------
        >>> step_size = StepSize(2.0, age=9)
        >>> list(step_size.bold_then_safe(0.5, 1.0)), step_size
        ([(0.5, 2.0), (0.0, 1.0)], StepSize(step=1.0, age=1, growth=1.05))
        """
        pull, step = min(momentum, self.age / (self.age + 3)), max(self.step, safe)
        self.age += 1
        if pull > 0:
            self.step = step * _GROW
            yield pull, step
            self.age, self.step, self.growth = 1, step * _SHRINK, _GROW
        yield 0.0, safe


StepSizes = dict[str, StepSize]


def pack_steps(steps: StepSizes) -> dict[str, Array]:
    """Return steps as arrays.

    Examples
    --------
    >>> unpack_steps(pack_steps({"W": StepSize(0.5, 3)}) | {"other": np.ones(2)})
    {'W': StepSize(step=0.5, age=3, growth=1.6)}
    """
    return {
        f"step_{name}": np.array([step_size.step, step_size.age, step_size.growth])
        for name, step_size in steps.items()
    }


def unpack_steps(arrays: dict[str, Array]) -> StepSizes:
    """Return the steps among arrays."""
    return {
        name.removeprefix("step_"): StepSize(float(kept[0]), int(kept[1]), float(kept[2]))
        for name, kept in arrays.items()
        if name.startswith("step_")
    }
