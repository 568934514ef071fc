"""Projections onto the simplex {w ≥ 0, eᵀw = total} and the l₁ ball."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inlined, jit
from conicnmf.geometry.direction import DEEPEST, keep_above
from conicnmf.geometry.rows import as_rows, inverse_power, norms, peak, per_row
from conicnmf.types import Array


@inlined
def simplex_row(a: Array, total: float, out: Array) -> None:
    """Write the projection of a onto {w ≥ 0, Σw = total} to `out`, which may not overlap a.

    Examples
    --------
    >>> out = np.empty(3)
    >>> simplex_row(np.array([1.0, 0.5, -1.0]), 1.0, out)
    >>> out
    array([0.75, 0.25, 0.  ])
    """
    if total <= 0:
        for i in range(a.size):
            out[i] = 0.0
        return
    # w = (μ − d)₊ with depths d = max a − a, in units of about `total`. μ is at most total, and
    # on a superset of the support never too small, as in the band projection.
    top, inv = peak(a), inverse_power(total)
    goal = total * inv
    count, depth, _, deepest = keep_above(a, a.size, out, top, inv, goal)
    mu = (goal + depth) / count
    while deepest >= mu:
        count, depth, _, deepest = keep_above(out, count, out, top, inv, mu)
        mu = (goal + depth) / count
    for i in range(a.size):
        out[i] = max(mu - min((top - a[i]) * inv, DEEPEST), 0.0)
    weight, _ = norms(out, 1.0)
    for i in range(a.size):
        out[i] = out[i] / weight * total


@jit
def _simplex_rows(X: Array, total: Array, P: Array) -> None:
    for i in range(X.shape[0]):
        simplex_row(X[i], total[i], P[i])


def project_simplex(X: ArrayLike, total: ArrayLike = 1.0) -> Array:
    """Project each row onto {w ≥ 0, Σw = total}; `total` ≥ 0 is one number or one per row.

    Examples
    --------
    >>> project_simplex([[1.0, 0.5, -1.0]])
    array([[0.75, 0.25, 0.  ]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    _simplex_rows(rows, per_row(total, rows.shape[0]), P)
    return P


def project_l1_ball(X: ArrayLike, radius: ArrayLike = 1.0, nonneg: bool = False) -> Array:
    """Project each row onto {‖w‖₁ ≤ radius}, with w ≥ 0 if `nonneg`.

    Examples
    --------
    >>> project_l1_ball([[1.0, -0.5], [0.2, -0.3]])
    array([[ 0.75, -0.25],
           [ 0.2 , -0.3 ]])
    >>> project_l1_ball([[1.0, -0.5], [0.2, -0.3]], nonneg=True)
    array([[1. , 0. ],
           [0.2, 0. ]])
    """
    rows = as_rows(X)
    sizes = np.maximum(rows, 0) if nonneg else np.abs(rows)
    radii = per_row(radius, rows.shape[0])
    far = sizes.sum(axis=1, dtype=np.float64) > radii
    if far.all():
        sizes = project_simplex(sizes, radii)
    elif far.any():
        sizes[far] = project_simplex(sizes[far], radii[far])
    return sizes if nonneg else np.copysign(sizes, rows)
