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


def project_unit_norm_within(X: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
    """Project each row onto {‖w‖₂ = 1, lower ≤ w ≤ upper}, which must not be empty.

    On the sphere the nearest point is the one of largest ⟨x, w⟩. Over the whole ball that is
    clip(μx, lower, upper) for a μ ≥ 0, whose norm rises with μ, so the one of norm one is best. Where
    no μ reaches it, which bounds alone can cause, entries go on to the end of their bounds that is
    farther from zero, those first that lower ⟨x, w⟩ least for what they add to the norm; the last one
    goes part of the way.

    Examples
    --------
    >>> project_unit_norm_within([[3.0, 4.0, 1.0]], 0.0, [[0.0, 1.0, 1.0]]).round(6)
    array([[0.      , 0.970143, 0.242536]])
    >>> project_unit_norm_within([[-3.0, -1.0, 5.0]], [[0.0, 0.0, 0.6]], [[1.0, 1.0, 0.6]])
    array([[0. , 0.8, 0.6]])
    """
    rows = as_rows(X)
    x, low, high = (
        np.array(np.broadcast_to(np.asarray(a, dtype=float), rows.shape))
        for a in (rows, lower, upper)
    )
    x = at_size_one(x)[0]
    found = np.array([_on_sphere(*row) for row in zip(x, low, high, strict=True)])
    return found.reshape(rows.shape).astype(rows.dtype, copy=False)


def _on_sphere(x: Array, low: Array, high: Array) -> Array:
    least = np.clip(0.0, low, high)
    ends = np.where(x > 0, high, np.where(x < 0, low, least))
    # The multiplier at which an entry leaves its least size, and where it arrives at its end.
    with np.errstate(divide="ignore", invalid="ignore"):
        leaves = np.where(ends != least, least / x, np.inf)
        arrives = np.where(ends != least, ends / x, np.inf)
    for mu in np.sort(np.concatenate([leaves, arrives])):
        if not np.isfinite(mu) or np.linalg.norm(np.clip(mu * x, low, high)) >= 1:
            break
    else:
        mu = np.inf
    free = (leaves < mu) & (arrives >= mu)
    held = np.where(arrives < mu, ends, least)
    rest = 1 - float(held[~free] @ held[~free])
    if free.any() and rest >= 0:
        along = math.sqrt(rest) / float(np.linalg.norm(x[free]))
        return np.clip(np.where(free, along * x, held), low, high)
    return _farther(x, np.where(free, ends, held), low, high)


def _farther(x: Array, w: Array, low: Array, high: Array) -> Array:
    """Return w with entries moved away from zero, in the order of their price, until its norm is one.

    The price of the last one is that of all the way, so this may miss the nearest point by a little.
    """
    far = np.where(high >= -low, high, low)
    missing = 1 - float(w @ w)
    most = np.copysign(np.sqrt(w**2 + max(missing, 0.0)), far)
    reach = np.where(far**2 - w**2 > missing, most, far)
    able = reach**2 > w**2
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(able, x * (w - reach) / (reach**2 - w**2), np.inf)
    for k in np.argsort(price, kind="stable"):
        missing = 1 - float(w @ w)
        if missing <= 0 or not able[k]:
            break
        size = math.sqrt(w[k] ** 2 + missing)
        if abs(far[k]) > size:
            w[k] = math.copysign(size, far[k])
            break  # what is missing now is rounding
        w[k] = far[k]
    return w
