"""Hoyer sparseness, and the projection onto fixed l₁ and l₂ norms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inlined, jit
from conicnmf.geometry.direction import directions
from conicnmf.geometry.rows import as_rows, inverse_power, largest, norms, per_row
from conicnmf.types import Array


@inlined
def sparseness_row(a: Array) -> float:
    """Return (√n − ‖a‖₁/‖a‖₂)/(√n − 1); nan for a zero vector, 1 when n = 1.

    Examples
    --------
    >>> sparseness_row(np.array([0.0, -3.0, 0.0]))
    1.0
    """
    n, size = a.size, largest(a)
    if size == 0:
        return np.nan
    if n == 1:
        return 1.0
    total, norm = norms(a, inverse_power(size))
    root = math.sqrt(n)
    return float(min(max((root - total / norm) / (root - 1), 0.0), 1.0))


@jit
def _sparseness_rows(X: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        out[i] = sparseness_row(X[i])


def hoyer_sparseness(X: ArrayLike) -> Array:
    """Return the Hoyer sparseness of each row: 0 for constant size, 1 for a single entry.

    A zero row has none (nan); a row of length one counts as 1.

    Examples
    --------
    >>> hoyer_sparseness([[1.0, 1.0], [0.0, -3.0], [0.0, 0.0]]).round(12)
    array([ 0.,  1., nan])
    """
    rows = as_rows(X)
    out = np.empty(rows.shape[0], dtype=rows.dtype)
    _sparseness_rows(rows, out)
    return out


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
