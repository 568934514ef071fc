"""Projections onto the l₂ ball, the unit sphere and the vectors with few entries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.direction import directions
from conicnmf.geometry.rows import as_rows, at_size_one, per_row
from conicnmf.types import Array


def project_norm_ball(X: ArrayLike, radius: ArrayLike = 1.0, nonneg: bool = False) -> Array:
    """Project each row onto {‖w‖₂ ≤ radius}, with w ≥ 0 if `nonneg`.

    Examples
    --------
    >>> project_norm_ball([[3.0, -4.0], [0.3, -0.4]])
    array([[ 0.6, -0.8],
           [ 0.3, -0.4]])
    """
    rows = as_rows(X)
    P = np.maximum(rows, 0) if nonneg else rows.copy()
    scaled, inverse = at_size_one(P)
    norms, radii = np.linalg.norm(scaled, axis=1), per_row(radius, len(P))
    with np.errstate(over="ignore"):  # an infinite radius, in these units, holds every row
        far = norms > radii * inverse
    P[far] = scaled[far] / norms[far, None] * radii[far, None]
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
    if nonneg:
        return directions(rows, 1.0, math.sqrt(rows.shape[1]))[0]
    scaled, _ = at_size_one(rows)
    scaled[~scaled.any(axis=1), 0] = 1.0
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled.astype(rows.dtype, copy=False)


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
    part = np.maximum(rows, 0) if nonneg else rows
    kept = np.argsort(-np.abs(part), axis=1, kind="stable")[:, : max(0, int(k))]
    P = np.zeros_like(rows)
    np.put_along_axis(P, kept, np.take_along_axis(part, kept, axis=1), axis=1)
    return P


def project_l0_within(X: ArrayLike, k: int, lower: ArrayLike, upper: ArrayLike) -> Array:
    """Keep k entries of each row, put within their bounds, and zero the rest, as near as can be.

    Entries whose bounds leave out zero are kept first, then those that gain most by being kept. A row
    with more than k such entries has no such point; all of them are kept there.

    Examples
    --------
    >>> project_l0_within([[1.0, 3.0, 2.0]], 1, 0.0, [[5.0, 1.0, 5.0]])
    array([[0., 1., 0.]])
    >>> project_l0_within([[1.0, 3.0, 2.0]], 1, [[0.5, 0.0, 0.0]], np.inf)
    array([[1., 0., 0.]])
    """
    rows = as_rows(X)
    near = np.clip(rows, lower, upper)
    forced = np.broadcast_to((np.asarray(lower) > 0) | (np.asarray(upper) < 0), rows.shape)
    unit = max(float(np.abs(rows).max(initial=0.0)), float(np.abs(near).max(initial=0.0))) or 1.0
    far, gap = rows / unit, (rows - near) / unit
    gain = np.where(forced, np.inf, far**2 - gap**2)
    order = np.argsort(-gain, axis=1, kind="stable")
    kept = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(kept, order[:, : max(0, int(k))], True, axis=1)
    return np.where(kept | forced, near, 0.0).astype(rows.dtype, copy=False)
