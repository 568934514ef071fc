"""Hoyer sparseness, and the projection onto fixed l₁ and l₂ norms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import jit
from conicnmf.geometry.direction import directions
from conicnmf.geometry.first_calls import FirstCalls
from conicnmf.geometry.rows import (
    BLOCK,
    as_rows,
    at_size_one,
    inverse_power,
    largest,
    norms,
    per_row,
)
from conicnmf.types import Array


def hoyer_sparseness(X: ArrayLike) -> Array:
    """Return the Hoyer sparseness of each row: 0 for constant size, 1 for a single entry.

    A zero row has none (nan); a row of length one counts as 1.

    Examples
    --------
    >>> hoyer_sparseness([[1.0, 1.0], [0.0, -3.0], [0.0, 0.0]]).round(12)
    array([ 0.,  1., nan])
    """
    rows = as_rows(X)
    out = np.empty(len(rows), dtype=rows.dtype)
    _measure(rows, out)
    return out


@jit
def _sparseness_rows(X: Array, out: Array) -> None:
    root = math.sqrt(X.shape[1])
    for i in range(len(X)):
        size = largest(X[i])
        if size == 0 or root == 1:
            out[i] = 1.0 if size > 0 else np.nan
            continue
        total, norm = norms(X[i], inverse_power(size))
        value = (root - total / norm) / (root - 1)
        out[i] = 0.0 if value < 0 else 1.0 if value > 1 else value  # nan stays


def _sparseness_array(X: Array, out: Array) -> None:
    """Do the same in NumPy."""
    if X.shape[1] == 1:
        out[:] = np.where(np.abs(X[:, 0]) > 0, 1.0, np.nan)
        return
    Y, _ = at_size_one(np.abs(X).astype(np.float64, copy=False))
    total, norm, root = _sums(Y), np.sqrt(_sums(Y * Y)), math.sqrt(X.shape[1])
    ratio = np.divide(total, norm, out=np.full(len(Y), np.nan), where=norm > 0)
    out[:] = np.clip((root - ratio) / (root - 1), 0.0, 1.0)


_measure = FirstCalls(_sparseness_rows, _sparseness_array)


def _sums(Y: Array) -> Array:
    """Return the sum of each row, in order and in blocks, as the compiled kernels make theirs."""
    total = np.zeros(len(Y))
    for start in range(0, Y.shape[1], BLOCK):
        total += np.add.accumulate(Y[:, start : start + BLOCK], axis=1)[:, -1]
    return total


def project_hoyer(X: ArrayLike, l1: ArrayLike, l2: ArrayLike, signed: bool = False) -> Array:
    """Project each row onto {s ≥ 0, ‖s‖₁ = l1, ‖s‖₂ = l2}.

    Parameters
    ----------
    X : array of shape (k, n)
        Finite numbers.
    l1, l2 : float or array of shape (k,)
        Norms with l2 ≤ l1 ≤ √n·l2; a ratio outside is moved to the nearest of these bounds and
        l2 is met.
    signed : bool
        Drop s ≥ 0: the magnitudes are projected and the signs restored (that of 0 is +).

    Returns
    -------
    array of shape (k, n)
        A nearest point of each row. Among tied maxima the lowest index comes first.

    Examples
    --------
    >>> project_hoyer([[2.0, 1.0, -9.0]], 1.4, 1.0).round(12)
    array([[0.8, 0.6, 0. ]])
    >>> project_hoyer([[2.0, -1.0]], 1.4, 1.0, signed=True).round(12)
    array([[ 0.8, -0.6]])
    """
    rows = as_rows(X)
    k, n = rows.shape
    lengths = np.maximum(per_row(l2, k), 0.0)
    ratios = np.divide(per_row(l1, k), lengths, out=np.ones(k), where=lengths > 0)
    ratios = np.clip(ratios, 1.0, math.sqrt(n))
    P, _, _ = directions(np.abs(rows) if signed else rows, ratios, ratios)
    P *= lengths[:, None]
    if signed:
        np.negative(P, out=P, where=rows < 0)
    return P
