"""A drawn term: how it is stated through each door, and what it means in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .measures import parts


@dataclass(frozen=True, eq=False)
class Drawn:
    """One term of a case.

    `term()` is the package's object; `algebra(X)` the CVXPY constraint or penalty, None where
    CVXPY cannot state it. A constraint has a `violation(X)`, a penalty a `value(X)`; X is the
    factor as users know it.
    """

    text: str
    term: Callable[[], Any]
    algebra: Callable[[Any], Any] | None = None
    violation: Callable[[np.ndarray], float] | None = None
    value: Callable[[np.ndarray], float] | None = None
    inputs: tuple[Any, ...] = ()
    length_one: bool = False


@dataclass(eq=False)
class Side:
    """A factor while its terms are drawn: its name, and a point that all of them allow.

    In a wild case bounds need not allow the point; a simple one has only terms that most solvers
    take.
    """

    factor: str
    point: np.ndarray
    nonneg: bool
    wild: bool
    simple: bool
    scale: float

    @property
    def shape(self):
        return self.point.shape

    def rows(self, each):
        """Return the pieces of the point as rows."""
        return parts(self.point, self.factor, each)

    def axis(self, each):
        """Return the axis over which NumPy and CVXPY reduce a piece."""
        return 0 if (self.factor == "W") == (each == "component") else 1

    def bound(self, rng, least):
        """Return an upper bound that the point meets; in a wild case any number near it."""
        loose = float(least) * (1 + rng.random()) + 1e-3 * self.scale
        wanted = loose * rng.uniform(0.1, 1.0) if self.wild else loose
        return float(f"{wanted:.3g}") * 1.01


def draw_each(rng, side):
    """Return components, or now and then samples."""
    return "sample" if not side.simple and rng.random() < 0.25 else "component"
