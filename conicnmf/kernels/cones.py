"""Projections onto the circular cone C(s) = {c‖x‖₂ ≤ eᵀx}, alone and with a half-space.

Signs are free here. Seen from its axis, C(s) has half-angle θ with cos θ = c/√n, and a projection
happens in the plane of the axis and x. A hyperplane through the apex cuts it in a circular cone
again, round the shadow of e, so the half-space needs no iteration either.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf._types import Array
from conicnmf.kernels._jit import jit
from conicnmf.kernels._rows import as_rows, dot, inverse_power, largest, scaled
from conicnmf.kernels.band import cone_ratio


@jit
def _onto_circular(x: Array, axis: Array, cos: float, sin: float, out: Array) -> None:
    """Project x onto the circular cone round the unit vector `axis`; `out` may be x."""
    along, squares = dot(x, axis), 0.0
    for i in range(x.size):
        squares += (x[i] - along * axis[i]) ** 2
    across = math.sqrt(squares)
    length = along * cos + across * sin
    inside = along >= 0 and across * cos <= along * sin
    for i in range(x.size):
        if inside:
            out[i] = x[i]
        elif length <= 0:
            out[i] = 0.0
        else:
            out[i] = length * (cos * axis[i] + sin * (x[i] - along * axis[i]) / across)


@jit
def _angle(n: int, s: float) -> tuple[float, float]:
    root = math.sqrt(n)
    cos = cone_ratio(n, s) / root
    return cos, math.sqrt(s * (1 - 1 / root) * (1 + cos))  # 1 − cos = (1 − 1/√n)s


@jit
def _flatten(x: Array, normal: Array) -> None:
    """Replace x by its projection onto the plane ⟨normal, x⟩ = 0."""
    step = dot(x, normal) / dot(normal, normal)
    for i in range(x.size):
        x[i] -= step * normal[i]


@jit
def halfspace_cone_row(x: Array, t: Array, s: float, out: Array) -> None:
    """Write the projection of x onto C(s) ∩ {⟨t,w⟩ ≥ 0} to `out`; t = 0 is no half-space.

    Examples
    --------
    >>> out = np.empty(2)
    >>> halfspace_cone_row(np.array([0.0, 2.0]), np.array([1.0, -1.0]), 1.0, out)
    >>> out.round(12)
    array([1., 1.])
    """
    n = x.size
    inv = inverse_power(largest(x))
    y, w, axis = scaled(x, inv), np.empty(n), np.empty(n)
    normal = scaled(t, inverse_power(largest(t)))
    for i in range(n):
        axis[i] = 1 / math.sqrt(n)
    cos, sin = _angle(n, s)
    _onto_circular(y, axis, cos, sin, w)
    if dot(normal, w) < 0:
        # The plane is active: project within it, onto its circular section of the cone.
        _flatten(y, normal)
        _flatten(axis, normal)
        shadow = math.sqrt(dot(axis, axis))
        # A plane this close to touching the cone does touch it, in a single ray.
        meets = cos <= shadow * (1 + (1e-12 if out.itemsize == 8 else 1e-5))
        for i in range(n):
            axis[i] = axis[i] / shadow if meets else 0.0
        cos = min(cos / shadow, 1.0)
        _onto_circular(y, axis, cos, math.sqrt(1 - cos * cos), w)
        for i in range(n):
            w[i] = w[i] if meets else 0.0
    for i in range(n):
        out[i] = w[i] / inv


@jit
def cone_row(x: Array, s: float, out: Array) -> None:
    """Write the projection of x onto C(s) to `out`.

    Examples
    --------
    >>> out = np.empty(2)
    >>> cone_row(np.array([2.0, 0.0]), 0.0, out)
    >>> out.round(12)
    array([1., 1.])
    """
    halfspace_cone_row(x, np.zeros_like(x), s, out)


@jit
def _halfspace_cone_rows(X: Array, T: Array, s: float, P: Array) -> None:
    for i in range(X.shape[0]):
        halfspace_cone_row(X[i], T[i], s, P[i])


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

    Examples
    --------
    >>> project_halfspace_cone([[0.0, 2.0]], [[1.0, -1.0]], 1.0).round(12)
    array([[1., 1.]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    _halfspace_cone_rows(rows, as_rows(T, like=rows), float(s), P)
    return P
