"""The sparseness cones C(s) = {x : c‖x‖₂ ≤ eᵀx} with c = √n − (√n − 1)s, signs free.

For x ≥ 0, C(s) holds the vectors of Hoyer sparseness at most s. The vectors of sparseness at least
s lie outside its interior, which is a reverse-convex set. Seen from its axis, C(s) has half-angle
θ with cos θ = c/√n, and a projection happens in the plane of the axis and x. A hyperplane through
the apex cuts it in a circular cone again, round the shadow of e, so the half-space needs no
iteration either.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.geometry.compilers import inner
from conicnmf.geometry.rows import as_rows, at_size_one
from conicnmf.types import Array


@inner
def cone_ratio(n: int, s: float) -> float:
    """Return c = √n − (√n − 1)s, the ratio ‖x‖₁/‖x‖₂ at sparseness s.

    Examples
    --------
    >>> cone_ratio(16, 0.0), cone_ratio(16, 0.5), cone_ratio(16, 1.0)
    (4.0, 2.5, 1.0)
    """
    root = math.sqrt(n)
    return 1.0 if s >= 1 else root - (root - 1) * s


def cone_ratios(n: int, s: ArrayLike | float) -> NDArray[np.float64]:
    """Return `cone_ratio` for one level, or for each of several.

    Examples
    --------
    >>> cone_ratios(16, [0.0, 0.5, 1.0])
    array([4. , 2.5, 1. ])
    """
    if isinstance(s, float):  # the usual case, asked for in every step
        return np.asarray(cone_ratio(n, s))
    levels, root = np.asarray(s, dtype=float), math.sqrt(n)
    return np.where(levels >= 1, 1.0, root - (root - 1) * levels)


def tangent_normals(P: Array, s: ArrayLike) -> Array:
    """Return, for each row p of P, the normal t of a half-space ⟨t, x⟩ ≥ 0 outside C(s).

    There is one s for all rows, or one for each.

    ‖x‖ ≥ ⟨p, x⟩/‖p‖, so ⟨p/‖p‖ − e/c, x⟩ ≥ 0 implies c‖x‖ ≥ eᵀx: the half-space lies wholly in
    the reverse-convex set, and it holds p itself when p does. A zero row has a zero normal.
    """
    norms = np.linalg.norm(P, axis=1, keepdims=True)
    directions = np.divide(P, norms, out=np.zeros_like(P), where=norms > 0)
    along = 1 / cone_ratios(P.shape[1], s)[..., None].astype(P.dtype, copy=False)
    return np.asarray(np.where(norms > 0, directions - along, 0.0))


def distance_to_cone(X: Array, s: ArrayLike) -> Array:
    """Return the distance of each row to C(s): p cos θ − a sin θ in the plane of (e, x).

    There is one s for all rows, or one for each.

    Examples
    --------
    >>> import numpy as np
    >>> distance_to_cone(np.array([[1.0, 1.0], [1.0, 0.0]]), 0.0).round(4)
    array([0.    , 0.7071])
    """
    n = X.shape[1]
    along = X.sum(axis=1) / np.sqrt(n)
    across = np.linalg.norm(X - along[:, None] / np.sqrt(n), axis=1)
    cos = np.minimum(1.0, cone_ratios(n, s) / np.sqrt(n))
    sin = np.sqrt(1 - cos * cos)
    outside = np.maximum(0.0, across * cos - along * sin)
    in_polar = along * cos + across * sin <= 0
    return np.asarray(np.where(in_polar, np.linalg.norm(X, axis=1), outside))


def project_cone(X: ArrayLike, s: float) -> Array:
    """Project each row onto C(s) = {w : c‖w‖₂ ≤ eᵀw}, c = √n − (√n − 1)s, without w ≥ 0.

    Examples
    --------
    >>> project_cone([[1.0, 0.0], [2.0, 2.0], [-1.0, -1.0]], 0.0).round(12)
    array([[0.5, 0.5],
           [2. , 2. ],
           [0. , 0. ]])
    """
    rows = as_rows(X)
    return project_halfspace_cone(rows, np.zeros_like(rows), s)


def project_halfspace_cone(X: ArrayLike, T: ArrayLike, s: float) -> Array:
    """Project each row x onto C(s) ∩ {w : ⟨t,w⟩ ≥ 0}, with t the same row of T (or its only row).

    A row t = 0 is no half-space.

    Examples
    --------
    >>> project_halfspace_cone([[0.0, 2.0]], [[1.0, -1.0]], 1.0).round(12)
    array([[1., 1.]])
    """
    rows = as_rows(X)
    (Y, inverse), (normals, _) = at_size_one(rows), at_size_one(as_rows(T, like=rows))
    root = math.sqrt(rows.shape[1])
    cos = cone_ratio(rows.shape[1], s) / root
    sin = math.sqrt(s * (1 - 1 / root) * (1 + cos))  # 1 − cos = (1 − 1/√n)s
    P = _onto_circular(Y, np.full_like(Y, 1 / root), cos, sin)
    # A plane this close to touching the cone does touch it, in a single ray.
    touch = 1e-12 if rows.itemsize == 8 else 1e-5
    cut = _products(normals, P)[:, 0] < 0
    P[cut] = _within_planes(Y[cut], normals[cut], cos, touch)
    return (P / inverse[:, None]).astype(rows.dtype, copy=False)


def _onto_circular(X: Array, axes: Array, cos: Any, sin: Any) -> NDArray[np.float64]:
    """Project each row onto the circular cone round its axis, a unit vector."""
    along = _products(X, axes)
    apart = X - along * axes
    across = np.sqrt(_products(apart, apart))
    inside = (along >= 0) & (across * cos <= along * sin)
    length = np.maximum(along * cos + across * sin, 0.0)
    edge = length * (cos * axes + sin * apart / np.where(across > 0, across, 1.0))
    return np.where(inside, X, edge)


def _within_planes(X: Array, normals: Array, cos: float, touch: float) -> NDArray[np.float64]:
    """Project each row within its plane, onto the plane's circular section of the cone."""
    squares = _products(normals, normals)
    X, axes = (
        Z - _products(Z, normals) / squares * normals
        for Z in (X, np.full_like(X, 1 / math.sqrt(X.shape[1])))
    )
    shadows = np.sqrt(_products(axes, axes))
    meets = cos <= shadows * (1 + touch)
    shadows = np.where(meets, shadows, 1.0)
    cosines = np.minimum(cos / shadows, 1.0)
    P = _onto_circular(X, axes / shadows, cosines, np.sqrt(1 - cosines**2))
    return np.where(meets, P, 0.0)


def _products(X: Array, Y: Array) -> Array:
    """Return the inner products of the rows, as a column."""
    return np.asarray(np.einsum("ij,ij->i", X, Y)[:, None])
