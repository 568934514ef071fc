"""Products of two factors at some entries only, those that sparse data store."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.geometry.compilers import jit
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array


@jit
def _products(
    rows: NDArray[Any],
    columns: NDArray[Any],
    left: Array,
    right: Array,
    out: Array,
    first: int,
    last: int,
) -> None:
    """Write the inner products of the entries first…last."""
    for e in range(first, last):
        i, j = rows[e], columns[e]
        total = 0.0
        for k in range(left.shape[1]):
            total += left[i, k] * right[j, k]
        out[e] = total


def stored_products(rows: NDArray[Any], columns: NDArray[Any], left: Array, right: Array) -> Array:
    """Return ⟨left[i], right[j]⟩ for the pairs of a row i and a column j.

    Examples
    --------
    >>> pairs = np.array([0, 1]), np.array([1, 0])
    >>> stored_products(*pairs, np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    array([4., 6.])
    """
    out = np.empty(rows.size, dtype=np.result_type(left, right))
    # Both go along components, so each product reads two short stretches of memory.
    left, right = (np.ascontiguousarray(X, dtype=out.dtype) for X in (left, right))

    def run(first: int, last: int) -> None:
        _products(rows, columns, left, right, out, first, last)

    over_columns(run, rows.size, work=float(rows.size) * left.shape[1])
    return out
