"""Projections onto the l₂ ball, the unit sphere and the vectors with few entries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf._types import Array
from conicnmf.kernels._jit import jit
from conicnmf.kernels._rows import as_rows, inverse_power, largest, norms, per_row
from conicnmf.kernels.direction import direction_row


@jit
def norm_row(a: Array) -> float:
    """Return ‖a‖₂ without overflow or underflow on the way.

    Examples
    --------
    >>> norm_row(np.array([3.0, -4.0]))
    5.0
    """
    inv = inverse_power(largest(a))
    return float(norms(a, inv)[1] / inv)


@jit
def norm_ball_row(a: Array, radius: float, nonneg: bool, out: Array) -> None:
    """Write the projection of a onto {‖w‖₂ ≤ radius} (and w ≥ 0) to `out`.

    Examples
    --------
    >>> out = np.empty(2)
    >>> norm_ball_row(np.array([6.0, -8.0]), 5.0, False, out)
    >>> out
    array([ 3., -4.])
    """
    for i in range(a.size):
        out[i] = max(a[i], 0.0) if nonneg else a[i]
    norm = norm_row(out)
    if norm > radius:
        # Two factors near 1 and `radius`: norm and radius may differ by more than a float holds.
        inv = inverse_power(norm)
        scale = radius / (norm * inv)
        for i in range(a.size):
            out[i] = out[i] * inv * scale


@jit
def unit_norm_row(a: Array, nonneg: bool, out: Array) -> None:
    """Write a unit vector nearest to a (and w ≥ 0) to `out`, which may not overlap a.

    Examples
    --------
    >>> out = np.empty(2)
    >>> unit_norm_row(np.array([3.0, -4.0]), False, out)
    >>> out
    array([ 0.6, -0.8])
    """
    if nonneg:
        direction_row(a, 1.0, math.sqrt(a.size), out)
        return
    norm = norm_row(a)
    inv = inverse_power(norm)
    for i in range(a.size):
        out[i] = a[i] * inv / (norm * inv) if norm > 0 else 0.0
    if norm == 0:
        out[0] = 1.0


@jit
def _kth_largest(values: Array, k: int) -> float:
    """Return the k-th largest of the values, which are reordered on the way."""
    low, high, place = 0, values.size - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return float(values[place])


@jit
def l0_row(a: Array, k: int, nonneg: bool, out: Array) -> None:
    """Write the k entries of a of largest size (value, if `nonneg`) to `out`, apart from a.

    Examples
    --------
    >>> out = np.empty(3)
    >>> l0_row(np.array([1.0, -3.0, 2.0]), 2, False, out)
    >>> out
    array([ 0., -3.,  2.])
    """
    for i in range(a.size):
        out[i] = max(a[i], 0.0) if nonneg else abs(a[i])
    bound = np.inf if k <= 0 else _kth_largest(out, min(k, a.size))
    above = 0
    for x in a:
        above += (x if nonneg else abs(x)) > bound
    ties = k - above
    for i in range(a.size):
        size = a[i] if nonneg else abs(a[i])
        keep = size > bound or (size == bound and ties > 0)
        ties -= size == bound
        out[i] = max(a[i], 0.0) if keep else 0.0
        if keep and not nonneg:
            out[i] = a[i]


@jit
def _norm_ball_rows(X: Array, radius: Array, nonneg: bool, P: Array) -> None:
    for i in range(X.shape[0]):
        norm_ball_row(X[i], radius[i], nonneg, P[i])


@jit
def _unit_norm_rows(X: Array, nonneg: bool, P: Array) -> None:
    for i in range(X.shape[0]):
        unit_norm_row(X[i], nonneg, P[i])


@jit
def _l0_rows(X: Array, k: int, nonneg: bool, P: Array) -> None:
    for i in range(X.shape[0]):
        l0_row(X[i], k, nonneg, P[i])


def project_norm_ball(X: ArrayLike, radius: ArrayLike = 1.0, nonneg: bool = False) -> Array:
    """Project each row onto {‖w‖₂ ≤ radius}, with w ≥ 0 if `nonneg`.

    Examples
    --------
    >>> project_norm_ball([[3.0, -4.0], [0.3, -0.4]])
    array([[ 0.6, -0.8],
           [ 0.3, -0.4]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    _norm_ball_rows(rows, per_row(radius, rows.shape[0]), bool(nonneg), P)
    return P


def project_unit_norm(X: ArrayLike, nonneg: bool = False) -> Array:
    """Project each row onto {‖w‖₂ = 1}, with w ≥ 0 if `nonneg`.

    A row without a positive entry goes to its largest entry alone if `nonneg`; a zero row to the
    first axis.

    Examples
    --------
    >>> project_unit_norm([[3.0, -4.0], [-2.0, -1.0]], nonneg=True)
    array([[1., 0.],
           [0., 1.]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    _unit_norm_rows(rows, bool(nonneg), P)
    return P


def project_l0(X: ArrayLike, k: int, nonneg: bool = False) -> Array:
    """Keep the k largest entries of each row (by size, by value if `nonneg`), zero the rest.

    Among equals the lowest index is kept.

    Examples
    --------
    >>> project_l0([[1.0, -3.0, 1.0]], 2)
    array([[ 1., -3.,  0.]])
    >>> project_l0([[1.0, -3.0, 1.0]], 1, nonneg=True)
    array([[1., 0., 0.]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    _l0_rows(rows, int(k), bool(nonneg), P)
    return P
