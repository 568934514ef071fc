"""Weighted residuals cut off at ±δ and what they cost, in one pass over data, model and weights.

Huber's loss is the sum of s(2r − s) over residuals r that are s where they are cut off. Squares are the
same without a bound, and slopes of both are multiples of s.
"""

from __future__ import annotations

import numpy as np

from conicnmf.geometry.compilers import jit_long_sums
from conicnmf.types import Array

_FEWEST = 1 << 13
"""With fewer entries NumPy's passes cost no more than a call, and need not be compiled."""


@jit_long_sums
def _cut(y: Array, m: Array | None, p: Array, delta: float, times: float) -> float:
    """Write multiples of the weighted cut residuals over the model, and return their cost.

    What has no weight may be infinite.
    """
    total = 0.0
    for i in range(y.size):
        r = y[i] - p[i]
        if m is not None:
            r = r if m[i] > 0 else 0.0
        s = min(max(r, -delta), delta)
        beyond = 0.0 if r == s else r - s  # of infinite residuals the difference is no number
        cost = s * (r + beyond)
        if m is not None:
            s, cost = m[i] * s, m[i] * cost
        total += cost
        p[i] = times * s
    return total


def cut_residuals(
    y: Array, p: Array, delta: float = np.inf, times: float = 1.0, m: Array | None = None
) -> tuple[float, Array]:
    """Return the sum of m s(2r − s), for residuals r that are s where they are cut off, and times m s.

    The model p is written over.

    Examples
    --------
    >>> cut_residuals(np.array([[0.5, 3.0]]), np.zeros((1, 2)), 1.0)
    (5.25, array([[0.5, 1. ]]))
    >>> cut_residuals(np.array([[0.5, 3.0]]), np.zeros((1, 2)), m=np.array([[1.0, 0.0]]))
    (0.25, array([[0.5, 0. ]]))
    """
    arrays = (y, p) if m is None else (y, p, m)
    if y.size < _FEWEST or not _stored_alike(arrays):
        return _by_passes(y, p, delta, times, m)
    Y, P, *M = (X.ravel(order="K") for X in arrays)
    return float(_cut(Y, M[0] if M else None, P, delta, times)), p


def _stored_alike(arrays: tuple[Array, ...]) -> bool:
    """Whether arrays are in double precision and in one piece, entry beside entry."""
    first = arrays[0]
    whole = first.flags.c_contiguous or first.flags.f_contiguous
    alike = (X.shape == first.shape and X.strides == first.strides for X in arrays)
    return whole and all(alike) and all(X.dtype == np.float64 for X in arrays)


def _by_passes(
    y: Array, p: Array, delta: float, times: float, m: Array | None
) -> tuple[float, Array]:
    with np.errstate(over="ignore", invalid="ignore"):
        r = np.subtract(y, p, out=p)
        if m is not None and not np.isfinite(r.sum()):
            r[np.broadcast_to(m, r.shape) == 0] = 0
        bound = r.dtype.type(delta)
        # Clipping is one pass, where two bounds one by one are two.
        s = r if np.isinf(delta) else np.clip(r, -bound, bound)
        weighed = s if m is None else m * s
        cost = product(weighed, r if s is r else r + (r - s))
        return cost, np.multiply(weighed, times, out=weighed)


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
