"""How the factors of a problem are held while it is solved: by default as arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from conicnmf.model.at_factors import Shapes, as_factors
from conicnmf.types import Array, Factors

LARGE = 100_000
"""Entries of a factor above which no second array of its size is made where rows will do."""


class Holding:
    """Factors in memory; what is elsewhere overrides what it cannot do as arrays do."""

    exact = True
    """Whether a checkpoint holds all of the factors and of what the solver remembers."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep whatever holds factors at work inside."""
        yield

    def read(self, factors: Any, shapes: Shapes, asked: str) -> Factors:
        """Return factors that a user gives, once they are checked."""
        return as_factors(factors, shapes, asked)

    def finite(self, point: Factors) -> bool:
        """Whether all entries are finite."""
        return all(bool(np.isfinite(X).all()) for X in point.values())

    def change(self, before: Factors, after: Factors) -> float:
        """Return the largest relative change of any factor."""
        return max(
            moved / size if (size := self.norm(X)) else float(moved > 0)
            for name, X in after.items()
            for moved in (self.distance(X, before[name]),)
        )

    def norm(self, X: Array) -> float:
        """Return the Frobenius norm."""
        return norm(X)

    def distance(self, X: Array, Y: Array) -> float:
        """Return the norm of the difference."""
        if X.size <= LARGE:
            return norm(X - Y)
        X, Y = (X.T, Y.T) if X.flags.f_contiguous else (X, Y)
        return math.hypot(*(norm(x - y) for x, y in zip(X, Y, strict=True)))

    def packed(self, point: Factors) -> Factors:
        """Return the arrays from which `unpacked` makes the factors again."""
        return point

    def unpacked(self, arrays: Factors) -> Factors:
        """Return the factors of a checkpoint."""
        return arrays

    def delivered(self, point: Factors) -> Factors:
        """Return factors as a result holds them."""
        return point


def norm(X: Array) -> float:
    """Return the Frobenius norm; NumPy's own takes longer to begin than small factors need.

    Examples
    --------
    >>> norm(np.full((2, 2), 3.0))
    6.0
    """
    x = X.ravel(order="K")
    square = float(x.dot(x))
    if math.isinf(square):  # the squares are too large for their precision, the norm may not be
        largest = np.abs(x).max()
        return float(largest) * float(np.linalg.norm(x / largest)) if largest < np.inf else math.inf
    return math.sqrt(square)
