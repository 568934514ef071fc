"""Exact non-negative least squares of a whole factor whose entries have a sum."""

from __future__ import annotations

import numpy as np

from conicnmf.kernels.nnls import nnls_gram
from conicnmf.types import Array, Mask

_STEPS = 100
_EPS = 2.0**-52
_BITS = 60
"""A whole number holds the support of fewer entries than this."""


def sum_ls_gram(G: Array, C: Array, total: float, equal: bool, B0: Array) -> Array:
    """Return the minimizer over B ≥ 0 of ½⟨B, G B⟩ − ⟨C, B⟩ with Σ B ≤ total, or = if `equal`.

    With the multiplier ν of the sum it is the non-negative least squares of C + ν. Their sum rises
    with ν, in pieces that are straight while supports stay: Newton steps between brackets end at the
    exact ν. Where it jumps, which dependent atoms make it do, all points between are minimizers.

    Parameters
    ----------
    G : array of shape (r, r)
    C : array of shape (r, n)
    total : float
        At least 0.
    equal : bool
    B0 : array of shape (r, n)
        A guess, whose support and multiplier are begun with.

    Examples
    --------
    >>> sum_ls_gram(np.eye(2), np.array([[3.0, 1.0], [2.0, 0.0]]), 3.0, False, np.ones((2, 2)))
    array([[2., 0.],
           [1., 0.]])
    """
    kind = np.result_type(G, C)
    G, C = np.asarray(G, dtype=float), np.asarray(C, dtype=float)
    free = np.diag(G) <= _EPS * float(np.diag(G).max(initial=0.0))
    full = float(B0.sum(dtype=float)) >= (1 - 1e-9) * total
    bound = _with_sum(G, C, total, B0) if equal or full else (B0, 1.0)
    if bound[1] <= 0 or (equal and not free.any()):
        return bound[0].astype(kind, copy=False)
    B = nnls_gram(G, C, B0)
    lacks = total - float(B.sum())
    if lacks < 0:
        return _with_sum(G, C, total, B)[0].astype(kind, copy=False)
    if equal:  # atoms that the data do not see take any amount at no cost
        B[free] += lacks / (int(free.sum()) * B.shape[1])
    return B.astype(kind, copy=False)


def _with_sum(G: Array, C: Array, total: float, B: Array) -> tuple[Array, float]:
    """Return the minimizer with this sum, and its multiplier ν."""
    low, high = -float(C.max()), np.inf  # below, every entry is zero
    below: Array = np.zeros(C.shape)
    above: Array | None = None
    rounding = 1e-13 * total
    held = B > 0
    nu = float(np.mean((G @ B - C)[held])) if held.any() else 0.0
    for _ in range(_STEPS):
        if not low < nu < high:
            nu = 0.5 * (low + high) if np.isfinite(high) else low + 2 * (abs(low) or 1.0)
        B = nnls_gram(G, C + nu, B)
        lacks = total - float(B.sum())
        moves = _moves(G, B > 0)
        rate = float(moves.sum())
        if abs(lacks) <= rounding:
            return B, nu
        if rate > 0 and abs(lacks) <= 1e-6 * total:
            near = B + (lacks / rate) * moves
            if near.min() >= 0 and _flat(G, C, near, nu + lacks / rate):
                return near, nu + lacks / rate
        if lacks > 0:
            low, below = nu, B
        else:
            high, above = nu, B
        if above is not None and high - low <= 4 * _EPS * max(abs(low), abs(high)):
            break
        nu = nu + lacks / rate if rate > 0 else np.nan
    if above is None:
        return B, nu
    gap = float(above.sum() - below.sum())
    part = (total - float(below.sum())) / gap if gap > 0 else 0.0
    return below + part * (above - below), low


def _moves(G: Array, support: Mask) -> Array:
    """Return how entries move with ν: G_SS d = 1 on the support S of each column, zero elsewhere."""
    if len(G) < _BITS:  # columns with one support have one system
        keys = (2 ** np.arange(len(G))) @ support
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        kinds = support[:, first]
    else:
        kinds, which = support, np.arange(support.shape[1])
    both = kinds.T[:, :, None] & kinds.T[:, None, :]
    # A little on the diagonal, where atoms depend on each other: the step is checked anyway.
    ridge = 1e-14 * float(np.diag(G).max(initial=1.0))
    systems = np.where(both, G, 0.0) + np.eye(len(G)) * np.where(kinds.T, ridge, 1.0)[:, None, :]
    found = np.linalg.solve(systems, kinds.T[:, :, None].astype(float))[:, :, 0]
    return np.ascontiguousarray(found[which.ravel()].T)


def _flat(G: Array, C: Array, B: Array, nu: float) -> bool:
    """Whether no entry at zero wants to grow."""
    slopes = G @ B - C - nu
    size = float(np.abs(C).max(initial=0.0)) + abs(nu)
    return bool(slopes.min() >= -1e-12 * size)
