"""A sparse quadratic along a row: least ½‖x − a‖² + ½ weight xᵀLx, free or with x ≥ 0.

Where the entries of L are near its diagonal, (I + weight L) x = a is solved by its bands. Otherwise
conjugate gradients need no factorization, which would be new for each weight. With x ≥ 0 they run on
the entries above 0, cut off where one would become negative; entries at 0 are let go when their part
of the gradient outweighs the rest (Dostál and Schöberl, Minimizing quadratic functions subject to
bound constraints, 2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inner, jit
from conicnmf.geometry.differences import solve_bands
from conicnmf.geometry.rows import as_rows, per_row
from conicnmf.types import Array

_EXACT = 1e-12
_NARROW = 32
"""Up to so many diagonals below the main one bands are solved: such matrices, of paths and rings for
example, are those on which conjugate gradients need most steps."""


@inner
def _times(
    data: Array, columns: Array, starts: Array, weight: float, x: Array, out: Array
) -> float:
    """Write (I + weight L) x to `out`; return ⟨x, out⟩."""
    total = 0.0
    for i in range(x.size):
        value = 0.0
        for k in range(starts[i], starts[i + 1]):
            value += data[k] * x[columns[k]]
        out[i] = x[i] + weight * value
        total += x[i] * out[i]
    return total


@inner
def _split(
    g: Array, x: Array, nonneg: bool, step: float, free: Array
) -> tuple[float, float, float]:
    """Write the gradient of the entries that may move to `free`; return the sizes that decide.

    These are ⟨reduced free gradient, free gradient⟩, the square of what asks entries at 0 to leave,
    and the square of the free gradient. The reduced one goes no further than to 0 in one `step`.
    """
    reduced, chopped, whole = 0.0, 0.0, 0.0
    for i in range(x.size):
        if nonneg and x[i] <= 0.0:
            free[i] = 0.0
            chopped += min(g[i], 0.0) ** 2
        else:
            free[i] = g[i]
            whole += g[i] * g[i]
            reduced += (min(x[i] / step, g[i]) if nonneg else g[i]) * g[i]
    return reduced, chopped, whole


@inner
def _quadratic_row(
    data: Array,
    columns: Array,
    starts: Array,
    weight: float,
    bound: float,
    a: Array,
    nonneg: bool,
    x: Array,
    work: Array,
) -> None:
    """Minimize over x, which holds the start; `bound` is at least the largest eigenvalue of L."""
    g, p, q, free = work[0], work[1], work[2], work[3]
    n, step = a.size, 1.0 / (1.0 + weight * bound)
    _times(data, columns, starts, weight, x, g)
    goal = 0.0
    for i in range(n):
        g[i] -= a[i]
        goal += a[i] * a[i]
    goal *= _EXACT * _EXACT
    reduced, chopped, whole = _split(g, x, nonneg, step, free)
    p[:] = free
    for _ in range(100 + 10 * n):
        if whole + chopped <= goal:
            break
        leave = chopped > reduced
        if leave:  # entries at 0 move along their own gradient
            for i in range(n):
                p[i] = min(g[i], 0.0) if x[i] <= 0.0 else 0.0
        curvature = _times(data, columns, starts, weight, p, q)
        if not curvature > 0.0:  # no conjugate direction is left, only rounding
            p[:] = free
            curvature = _times(data, columns, starts, weight, p, q)
            if not curvature > 0.0:
                break
        length, room = 0.0, np.inf
        for i in range(n):
            length += g[i] * p[i]
            if nonneg and p[i] > 0.0:
                room = min(room, x[i] / p[i])
        length /= curvature
        taken = min(length, room)
        for i in range(n):
            x[i] -= taken * p[i]
            g[i] -= taken * q[i]
            if nonneg:
                x[i] = max(x[i], 0.0)
        cut = length > room
        if cut:
            for i in range(n):
                if x[i] > 0.0:
                    x[i] = max(x[i] - step * g[i], 0.0)
            _times(data, columns, starts, weight, x, g)
            for i in range(n):
                g[i] -= a[i]
        reduced, chopped, whole = _split(g, x, nonneg, step, free)
        if cut or leave:
            p[:] = free
        else:
            overlap = 0.0
            for i in range(n):
                overlap += free[i] * q[i]
            for i in range(n):
                p[i] = free[i] - overlap / curvature * p[i]


@jit
def _quadratic_rows(
    X: Array,
    data: Array,
    columns: Array,
    starts: Array,
    weights: Array,
    nonneg: bool,
    P: Array,
) -> None:
    n, bound = X.shape[1], 0.0
    for i in range(n):
        bound = max(bound, np.abs(data[starts[i] : starts[i + 1]]).sum())
    a, x, work = np.empty(n), np.empty(n), np.empty((4, n))
    for i in range(X.shape[0]):
        a[:] = X[i]
        size = np.abs(a).max()
        unit = size if 0.0 < size < np.inf else 1.0
        a /= unit
        x[:] = np.maximum(a, 0.0) if nonneg else a
        _quadratic_row(data, columns, starts, weights[i], bound, a, nonneg, x, work)
        P[i] = x * unit


def _bands(L: Any) -> Array | None:
    """Return the diagonals of a symmetric L from the main one on, nothing where they are many."""
    columns = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    below = L.indices - columns
    most = int(below.max(initial=0))
    if most > _NARROW:
        return None
    bands, lower = np.zeros((most + 1, L.shape[0])), below >= 0
    np.add.at(bands, (below[lower], columns[lower]), L.data[lower])
    return bands


def prox_quadratic(X: ArrayLike, weight: ArrayLike, L: Any, nonneg: bool = False) -> Array:
    """Return for each row a of X the x of least ½‖x − a‖² + ½ weight xᵀLx, with x ≥ 0 if `nonneg`.

    Parameters
    ----------
    X : array of shape (rows, n)
    weight : float or array of shape (rows,)
        At least 0.
    L : sparse array of shape (n, n)
        Symmetric and positive semi-definite, for example the Laplacian of a graph.
    nonneg : bool

    Examples
    --------
    >>> prox_quadratic([[0.0, 3.0]], 1.0, sp.csr_array([[1.0, -1.0], [-1.0, 1.0]]))
    array([[1., 2.]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    if rows.size:
        known = isinstance(L, sp.csr_array) and L.dtype == np.float64
        own = L if known else sp.csr_array(L, dtype=np.float64)
        weights = per_row(weight, len(rows))
        bands = _bands(own)
        if bands is not None:
            solve_bands(rows, bands, weights, nonneg, P)
        else:
            _quadratic_rows(rows, own.data, own.indices, own.indptr, weights, nonneg, P)
    return P
