"""Least squares over columns that are non-negative and sum to a total, exactly.

From a good guess of the support a few exchanges of atoms settle a column, see `_settle`. For the
others the equation eᵀb = t enters by the method of multipliers: with σ(eᵀb − t)² added, which is zero
where the equation holds, and a multiplier ν in front of it, each column is a non-negative
least-squares problem, minimize ½bᵀ(G + σeeᵀ)b − (c + (σt + ν)e)ᵀb. Its sum grows with ν, by almost
1/σ when σ is large, so a few secant steps find the ν at which the sum is t. Supports are kept from
step to step. The added term also gives curvature to combinations of atoms that cancel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.errors import InputError
from conicnmf.kernels._columns import as_block
from conicnmf.kernels._settle import settle_range
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array

_STIFF = 100.0
_STEPS = 30


def simplex_ls_gram(
    G: ArrayLike, C: ArrayLike, total: float = 1.0, B0: ArrayLike | None = None
) -> Array:
    """Return the minimizer of ‖Y − A B‖² over B ≥ 0 whose columns sum to `total`.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        AᵀA, or one such matrix for each column.
    C : array of shape (r, n)
        AᵀY.
    total : float
        What every column sums to, positive.
    B0 : array of shape (r, n), optional
        A guess; only its support is used.

    Examples
    --------
    >>> simplex_ls_gram(np.eye(2), np.array([[2.0, 0.5], [0.0, 0.5]]))
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    G, C = as_block(G, C)
    if not total > 0:
        raise InputError(f"columns must sum to a positive total, got {total}")
    dtype = C.dtype
    G, C = G.astype(np.float64, copy=False), C.astype(np.float64)
    B = np.empty(C.shape)
    going = np.arange(C.shape[1])
    if B0 is not None:
        X, settled = _settle(G, C, total, np.asarray(B0))
        B[:, settled], going = X[settled].T, np.flatnonzero(~settled)
    if going.size:
        part = slice(None) if going.size == C.shape[1] else going
        guess = None if B0 is None else np.asarray(B0)[:, part]
        B[:, part] = _by_multipliers(G if G.ndim == 2 else G[part], C[:, part], total, guess)
    sums = B.sum(axis=0)
    # What the last step leaves of the equation is rounding.
    return np.asarray(B * (total / np.where(sums > 0, sums, total)), dtype=dtype)


def _settle(
    G: Array, C: Array, total: float, B0: Array
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the columns that a few exchanges of atoms solve, as rows, and which these are."""
    n, r = C.shape[1], len(C)
    rows, X = np.ascontiguousarray(C.T), np.empty((n, r))
    inside, settled = np.ascontiguousarray(B0.T > 0), np.empty(n, np.bool_)
    stack = np.ascontiguousarray(G if G.ndim == 3 else G[None])

    def run(first: int, last: int) -> None:
        settle_range(stack, rows, total, X, inside, settled, first, last)

    over_columns(run, n, work=n * r * min(r, 50.0))
    return X, settled


def _by_multipliers(G: Array, C: Array, total: float, B0: ArrayLike | None) -> Array:
    """Return the minimizer by the method of multipliers."""
    diagonal = np.diagonal(G, axis1=-2, axis2=-1)
    stiff = _STIFF * diagonal.mean(axis=-1)
    stiff = np.broadcast_to(np.where(stiff > 0, stiff, 1.0), C.shape[1])
    held = G + (stiff[0] if G.ndim == 2 else stiff[:, None, None])
    # The multiplier of the best single atom: there the sum is already near the total.
    slopes = total * np.atleast_2d(diagonal).T - C
    best = np.argmin(slopes - C, axis=0)
    shift = slopes[best, np.arange(C.shape[1])]
    return _multipliers(held, C + stiff * total, stiff, total, shift, B0)


def _multipliers(
    G: Array,
    C: Array,
    stiff: NDArray[np.float64],
    total: float,
    shift: NDArray[np.float64],
    B0: ArrayLike | None,
) -> Array:
    """Move a multiplier for each column until the sums are right; only those that are not go on."""
    B = nnls_gram(G, C + shift, B0)
    gap = total - B.sum(axis=0)
    step = stiff * gap
    for _ in range(_STEPS):
        going = np.flatnonzero(np.abs(gap) > 1e-12 * total)
        if not going.size:
            break
        own = G if G.ndim == 2 else G[going]
        shift[going] += step[going]
        B[:, going] = nnls_gram(own, C[:, going] + shift[going], B[:, going])
        before, gap[going] = gap[going], total - B[:, going].sum(axis=0)
        step[going] = _secant(step[going], before, gap[going], stiff[going])
    return B


def _secant(step: Array, before: Array, now: Array, stiff: Array) -> Array:
    """Return the next step of each multiplier, from how the last one changed the sum."""
    # The sum never grows faster than 1/σ, so a secant shorter than σ·gap is rounding.
    fell = before - now
    slope = np.divide(step, fell, out=np.zeros_like(step), where=fell != 0)
    return np.where(slope > stiff, slope, stiff) * now
