"""Long native loops in slices, so that a deadline can end them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conicnmf.solve.deadline import is_late, seconds_left
from conicnmf.types import Array

_WORK = 2e8
"""Multiplications in a slice, a fraction of a second; the clock decides nothing but the end."""


def in_slices(
    sweep: Callable[[Array, int], tuple[Array, int]], B: Array, most: int
) -> tuple[Array, int]:
    """Call sweep(B, count), which returns B and the sweeps made, until it settles or time is up.

    Examples
    --------
    >>> in_slices(lambda B, count: (B + count, count), np.zeros((1, 1)), 5)
    (array([[5.]]), 5)
    """
    if seconds_left() == np.inf:
        return sweep(B, most)
    rank, columns = B.shape
    size = max(1, int(_WORK // (rank * rank * columns)))
    made = 0
    while made < most:
        count = min(size, most - made)
        B, used = sweep(B, count)
        made += used
        if used < count or is_late():
            break
    return B, made
