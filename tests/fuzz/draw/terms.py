"""A drawn term: how it is stated through each door, and what it means in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..judge.measures import parts
from .numbers import short


@dataclass(frozen=True, eq=False)
class Drawn:
    """One term of a case.

    `term()` is the package's object; `algebra(X)` the CVXPY constraint or penalty, None where
    CVXPY cannot state it. A constraint has a `violation(X)`, a penalty a `value(X)`; X is the
    variable as users know it.
    """

    text: str
    term: Callable[[], Any]
    algebra: Callable[[Any], Any] | None = None
    violation: Callable[[np.ndarray], float] | None = None
    value: Callable[[np.ndarray], float] | None = None
    inputs: tuple[Any, ...] = ()
    length_one: bool = False

    @property
    def kind(self):
        """The name of the term's class."""
        return self.text.split("(")[0]


@dataclass(eq=False)
class Side:
    """A variable while its terms are drawn: its name, and a point that all of them allow.

    Components are its columns or its rows. In a wild case bounds need not allow the point; a
    simple one has only terms that most solvers take. Its entries are about `unit` large, and one
    unit of the objective is `worth`.
    """

    name: str
    point: np.ndarray
    columns: bool
    nonneg: bool
    wild: bool
    simple: bool
    unit: float
    worth: float = 1.0

    @property
    def shape(self):
        return self.point.shape

    def rows(self, each):
        """Return the pieces of the point as rows."""
        return parts(self.point, self.columns, each)

    def axis(self, each):
        """Return the axis over which NumPy and CVXPY reduce a piece."""
        return 0 if self.columns == (each == "component") else 1

    def bound(self, rng, least):
        """Return an upper bound that the point meets; in a wild case any number near it."""
        loose = float(least) * (1 + rng.random()) + 1e-3 * self.unit
        wanted = loose * rng.uniform(0.1, 1.0) if self.wild else loose
        return 1.01 * short(wanted)


def draw_each(rng, side):
    """Return components, or now and then samples."""
    return "sample" if not side.simple and rng.random() < 0.25 else "component"
