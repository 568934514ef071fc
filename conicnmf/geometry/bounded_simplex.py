"""Projection onto {lower ≤ w ≤ upper, eᵀw = total}: the simplex within bounds on its entries.

The nearest point is w = clip(x − λ, lower, upper) for the λ at which it has the right sum. The sum
falls with λ in straight pieces that end where an entry reaches a bound, so the piece is found by
bisection over these ends, and λ on it is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.rows import as_rows
from conicnmf.types import Array


def project_bounded_simplex(
    X: ArrayLike, total: float, lower: ArrayLike, upper: ArrayLike
) -> Array:
    """Project each row onto {lower ≤ w ≤ upper, Σw = total}, which must not be empty.

    Examples
    --------
    >>> project_bounded_simplex([[1.0, 0.5, -1.0]], 1.0, 0.0, 0.6)
    array([[0.6, 0.4, 0. ]])
    """
    rows = as_rows(X)
    x = rows.astype(float)
    low, high = (
        np.broadcast_to(np.asarray(bound, dtype=float), x.shape) for bound in (lower, upper)
    )
    shift = x.max(axis=1, keepdims=True)  # the sum is then of numbers near the bounds
    x = x - shift
    ends = np.sort(np.hstack([x - high, x - low]), axis=1)
    first = np.zeros(len(x), dtype=np.intp)
    last = np.full(len(x), ends.shape[1] - 1)
    each = np.arange(len(x))
    while (last - first > 1).any():
        middle = (first + last) // 2
        sums = np.clip(x - ends[each, middle][:, None], low, high).sum(axis=1)
        first, last = np.where(sums >= total, middle, first), np.where(sums >= total, last, middle)
    begin, end = ends[each, first][:, None], ends[each, last][:, None]
    # On a piece an entry is free, or it stays at the bound at which it is in the middle of it.
    free = (x - high <= begin) & (x - low >= end) & (low < high)
    held = np.where(free, 0.0, np.where(x - low <= begin, low, high))
    count = free.sum(axis=1, keepdims=True)
    rest = total - held.sum(axis=1, keepdims=True)
    mean = np.divide(rest - np.where(free, x, 0.0).sum(axis=1, keepdims=True), np.maximum(count, 1))
    return np.clip(np.where(free, x + mean, held), low, high).astype(rows.dtype)
