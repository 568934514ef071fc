"""Geometry of the sparseness cones C(s) = {x : c‖x‖₂ ≤ eᵀx}, with c = √n − (√n − 1)s.

For x ≥ 0, C(s) holds the vectors of Hoyer sparseness at most s. The vectors of sparseness at least
s lie outside its interior, which is a reverse-convex set.
"""

from __future__ import annotations

import numpy as np

from conicnmf._types import Array


def cone_constant(n: int, s: float) -> float:
    """Return c(n, s), the ratio ‖x‖₁/‖x‖₂ of a vector of length n with sparseness s.

    Examples
    --------
    >>> cone_constant(4, 0.0), cone_constant(4, 1.0)
    (2.0, 1.0)
    """
    root = float(np.sqrt(n))
    return root - (root - 1) * s


def tangent_normals(P: Array, s: float) -> Array:
    """Return, for each row p of P, the normal t of a half-space ⟨t, x⟩ ≥ 0 outside C(s).

    ‖x‖ ≥ ⟨p, x⟩/‖p‖, so ⟨p/‖p‖ − e/c, x⟩ ≥ 0 implies c‖x‖ ≥ eᵀx: the half-space lies wholly in
    the reverse-convex set, and it holds p itself when p does. A zero row has a zero normal.
    """
    norms = np.linalg.norm(P, axis=1, keepdims=True)
    directions = np.divide(P, norms, out=np.zeros_like(P), where=norms > 0)
    return np.asarray(np.where(norms > 0, directions - 1 / cone_constant(P.shape[1], s), 0.0))


def distance_to_cone(X: Array, s: float) -> Array:
    """Return the distance of each row to C(s): p cos θ − a sin θ in the plane of (e, x).

    Examples
    --------
    >>> import numpy as np
    >>> distance_to_cone(np.array([[1.0, 1.0], [1.0, 0.0]]), 0.0).round(4)
    array([0.    , 0.7071])
    """
    n = X.shape[1]
    along = X.sum(axis=1) / np.sqrt(n)
    across = np.linalg.norm(X - along[:, None] / np.sqrt(n), axis=1)
    cos = min(1.0, cone_constant(n, s) / np.sqrt(n))
    sin = np.sqrt(1 - cos * cos)
    outside = np.maximum(0.0, across * cos - along * sin)
    in_polar = along * cos + across * sin <= 0
    return np.asarray(np.where(in_polar, np.linalg.norm(X, axis=1), outside))
