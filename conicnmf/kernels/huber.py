"""Residuals cut off at ±δ and what Huber's loss makes of them, in one pass over data and model."""

from __future__ import annotations

import numpy as np

from conicnmf.geometry.compilers import jit
from conicnmf.types import Array

_FEWEST = 1 << 13
"""With fewer entries NumPy's passes cost no more than a call, and need not be compiled."""


@jit
def _cut(y: Array, p: Array, delta: float, times: float, sums: Array, row: Array) -> None:
    """Write multiples of the cut residuals over the model, and the cost of each column into `sums`.

    A row of the data is copied first: of a matrix whose rows are parts of longer ones the compiler
    does not know that entries are neighbors. Sums by columns let it take several at once.
    """
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            row[j] = y[i, j]
        for j in range(y.shape[1]):
            r = row[j] - p[i, j]
            s = min(max(r, -delta), delta)
            sums[j] += s * (r + r - s)
            p[i, j] = times * s


def cut_residuals(y: Array, p: Array, delta: float, times: float = 1.0) -> tuple[float, Array]:
    """Return the sum of s(2r − s), for residuals r that are s where they are cut off, and times s.

    The model p may be written over.

    Examples
    --------
    >>> cut_residuals(np.array([[0.5, 3.0]]), np.zeros((1, 2)), 1.0)
    (5.25, array([[0.5, 1. ]]))
    """
    if y.size < _FEWEST or not y.dtype == p.dtype == np.float64 or y.ndim != 2:
        r = y - p
        bound = r.dtype.type(delta)
        s = np.clip(r, -bound, bound)  # one pass, where two bounds one by one are two
        return product(s, r + (r - s)), np.multiply(s, times, out=s)
    by_columns = p.strides[0] < p.strides[1]
    Y, P = (y.T, p.T) if by_columns else (y, p)
    sums, row = np.zeros((2, Y.shape[1]))
    _cut(Y, P, delta, times, sums, row)
    return float(sums.sum()), p


def product(x: Array, y: Array) -> float:
    """Return ⟨x, y⟩ in double precision.

    Examples
    --------
    >>> product(np.ones(3, np.float32), np.full(3, 2.0, np.float32))
    6.0
    """
    if x.dtype == np.float64 and x.strides == y.strides:
        return float(x.ravel(order="K") @ y.ravel(order="K"))
    return float(np.sum(x * y, dtype=np.float64))
