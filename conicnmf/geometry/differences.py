"""Squared differences of any order along a row: least ½‖x − a‖² + weight ‖Dx‖², free or with x ≥ 0.

The minimizer solves (I + 2 weight DᵀD) x = a, a system with as many bands as the order. With x ≥ 0
the same system holds on the entries that are not zero, and which these are is found by exchanging
entries with the wrong sign: all of them while their number falls, else only the last, which ends
after finitely many rounds (block principal pivoting, Júdice and Pires, 1994).
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.geometry.compilers import inner, jit
from conicnmf.geometry.rows import as_rows, per_row
from conicnmf.types import Array, Mask

_PATIENCE = 3
"""So many rounds without fewer wrong signs are allowed before entries are exchanged one by one."""


def difference_bands(n: int, order: int) -> NDArray[np.float64]:
    """Return DᵀD for differences of an order along n entries: bands[d, i] is its entry (i + d, i).

    Examples
    --------
    >>> difference_bands(3, 1)
    array([[ 1.,  2.,  1.],
           [-1., -1.,  0.]])
    """
    signs = np.array([(-1.0) ** k * comb(order, k) for k in range(order + 1)])
    bands = np.zeros((order + 1, n))
    for d in range(order + 1):
        for k in range(order + 1 - d):
            # Each of the n − order differences holds entries i and i + d at its places k, k + d.
            bands[d, k : k + n - order] += signs[k] * signs[k + d]
    return bands


@inner
def _solve_free(bands: Array, weight: float, free: Mask, b: Array, work: Array, x: Array) -> None:
    """Solve (I + weight·bands) x = b on the free entries, with zeros elsewhere, by LDLᵀ in work."""
    order, n = bands.shape[0] - 1, b.size
    for i in range(n):
        x[i] = b[i] if free[i] else 0.0
        pivot = 1.0 + weight * bands[0, i]
        for d in range(min(order, i), 0, -1):
            j = i - d
            # Row i of L at column j, times the pivot there.
            entry = weight * bands[d, j] if free[i] and free[j] else 0.0
            for e in range(d + 1, min(order, i) + 1):
                entry -= work[e, i - e] * work[e - d, i - e] * work[0, i - e]
            work[d, j] = entry / work[0, j]
            pivot -= work[d, j] * entry
            x[i] -= work[d, j] * x[j]
        work[0, i] = pivot if free[i] else 1.0
    for i in range(n - 1, -1, -1):
        x[i] /= work[0, i]
        for d in range(1, min(order, n - 1 - i) + 1):
            x[i] -= work[d, i] * x[i + d]


@inner
def _wrong_sign(
    bands: Array, weight: float, free: Mask, a: Array, x: Array, wrong: Mask
) -> tuple[int, int]:
    """Mark free entries below 0 and zero entries with a falling cost; return how many, and the last."""
    order, n = bands.shape[0] - 1, a.size
    count, last = 0, -1
    allowed = 1e-14 * np.abs(a).max()
    for i in range(n):
        measure = x[i]
        if not free[i]:
            measure = -a[i]
            for d in range(1, order + 1):
                if i >= d:
                    measure += weight * bands[d, i - d] * x[i - d]
                if i + d < n:
                    measure += weight * bands[d, i] * x[i + d]
        wrong[i] = measure < -allowed
        if wrong[i]:
            count, last = count + 1, i
    return count, last


@inner
def _nonneg_row(
    bands: Array, weight: float, a: Array, free: Mask, wrong: Mask, work: Array, x: Array
) -> None:
    """Exchange the entries with the wrong sign until there are none."""
    free[:] = True
    fewest, patience = a.size + 1, _PATIENCE
    for _ in range(100 + 10 * a.size):
        _solve_free(bands, weight, free, a, work, x)
        count, last = _wrong_sign(bands, weight, free, a, x, wrong)
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, _PATIENCE
        else:
            patience -= 1
        for i in range(a.size):
            if wrong[i] and (patience >= 0 or i == last):
                free[i] = not free[i]
    for i in range(a.size):
        x[i] = max(x[i], 0.0)


@jit
def solve_bands(X: Array, bands: Array, weights: Array, nonneg: bool, P: Array) -> None:
    """Write to P the x of least ½‖x − a‖² + ½ weight xᵀLx for each row a; `bands` are L's diagonals."""
    n = X.shape[1]
    a, x, work = np.empty(n), np.empty(n), np.empty(bands.shape)
    free, wrong = np.ones(n, np.bool_), np.empty(n, np.bool_)
    for i in range(X.shape[0]):
        a[:] = X[i]
        if nonneg:
            _nonneg_row(bands, weights[i], a, free, wrong, work, x)
        else:
            _solve_free(bands, weights[i], free, a, work, x)
        P[i] = x


def prox_differences(
    X: ArrayLike, weight: ArrayLike, order: int = 1, nonneg: bool = False
) -> Array:
    """Return for each row a of X the x of least ½‖x − a‖² + weight ‖Dx‖², with x ≥ 0 if `nonneg`.

    D takes differences between neighbors, `order` times in a row; a row that is too short for
    them stays as it is.

    Examples
    --------
    >>> prox_differences([[0.0, 3.0]], 0.5)
    array([[1., 2.]])
    >>> prox_differences([[-3.0, 3.0]], 0.5, nonneg=True)
    array([[0. , 1.5]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    if rows.size and order < rows.shape[1]:
        bands = difference_bands(rows.shape[1], order)
        solve_bands(rows, bands, 2 * per_row(weight, len(rows)), nonneg, P)
        return P
    return np.maximum(rows, 0) if nonneg else rows.copy()
