"""Exact projection onto a band of Hoyer sparseness, {w ≥ 0, s_min ≤ sp(w) ≤ s_max}.

The set is a cone, so the nearest point is max(0, ⟨a,u⟩)·u with u the best unit vector of the band.
On unit vectors u ≥ 0 the band reads c_min ≤ ‖u‖₁ ≤ c_max.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inlined
from conicnmf.geometry.cones import cone_ratio, cone_ratios
from conicnmf.geometry.direction import direction_row, directions
from conicnmf.geometry.rows import as_rows
from conicnmf.types import Array


@inlined
def band_row(a: Array, s_min: float, s_max: float, out: Array, u: Array) -> float:
    """Project the vector a onto the band into `out`, its best unit direction into `u`.

    Returns ⟨a,u⟩: when it is not positive, `out` is zero. The three arrays may not overlap.

    Examples
    --------
    >>> a = np.array([3.0, 4.0, -1.0])
    >>> out, u = np.empty(3), np.empty(3)
    >>> band_row(a, 1.0, 1.0, out, u)
    4.0
    >>> out, u
    (array([0., 4., 0.]), array([0., 1., 0.]))
    """
    n = a.size
    dot, inside = direction_row(a, cone_ratio(n, s_max), cone_ratio(n, s_min), u)
    for i in range(n):
        out[i] = max(a[i], 0.0) if inside else max(dot, 0.0) * u[i]
    return float(dot)


def project_band(X: ArrayLike, s_min: ArrayLike, s_max: ArrayLike) -> tuple[Array, Array]:
    """Project each row onto {w ≥ 0, s_min ≤ sp(w) ≤ s_max}, sp the Hoyer sparseness.

    Parameters
    ----------
    X : array of shape (k, n)
        Finite numbers.
    s_min, s_max : float or array of shape (k,)
        0 ≤ s_min ≤ s_max ≤ 1, for all rows or for each. Rows of length one ignore the band.

    Returns
    -------
    P : array of shape (k, n)
        The nearest points; a row is zero where no direction of the band has a positive product.
        Rows below the smallest normal number are a little longer than that.
    U : array of shape (k, n)
        The best unit directions, never zero. P = max(0, ⟨x,u⟩)·u row by row. Among tied maxima
        the lowest index comes first.

    Examples
    --------
    >>> P, U = project_band([[3.0, 2.0, 1.0], [-1.0, -2.0, -3.0]], 0.8, 1.0)
    >>> P.round(3)
    array([[3.238, 0.522, 0.   ],
           [0.   , 0.   , 0.   ]])
    >>> U[1]
    array([1., 0., 0.])
    """
    rows = as_rows(X)
    bounds = (cone_ratios(rows.shape[1], s) for s in (s_max, s_min))
    U, products, inside = directions(rows, *bounds)
    P = np.maximum(products, 0)[:, None] * U
    if inside.any():
        np.maximum(rows, 0, out=P, where=inside[:, None])  # not U times a length: no rounding
    # Below the smallest normal number entries have few digits, too few for any sparseness.
    least = np.finfo(P.dtype)
    lost = (products > 0) & (P.max(axis=1, initial=0.0) < least.tiny)
    P[lost] = least.tiny / least.eps * U[lost]
    return P, U


def project_orthant_cone(X: ArrayLike, s_max: float) -> Array:
    """Project each row onto the convex cone {w ≥ 0, sp(w) ≤ s_max} (with 0).

    Examples
    --------
    >>> project_orthant_cone([[1.0, 0.0], [1.0, 1.0]], 0.0)
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    return project_band(X, 0.0, s_max)[0]
