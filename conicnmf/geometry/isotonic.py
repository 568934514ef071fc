"""Rows that rise, or rise and then fall: the nearest ones, by pooling neighbors that violate it.

A rising fit is flat on blocks, each at the mean of its entries. Entries come one by one; a block
whose mean is not above that of the block before it is joined with it. So after k entries the
blocks are the fit of the first k, and its error is known: the rising-then-falling fit needs the
errors of all beginnings and of all ends, and takes the best place to turn. Everything is O(n).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inner, jit
from conicnmf.geometry.rows import as_rows
from conicnmf.types import Array


@inner
def _pool(a: Array, nonneg: bool, sums: Array, counts: Array, errors: Array) -> int:
    """Pool the entries of a into rising blocks; return their number.

    errors[k] becomes the least Σ(x − a)² − a² over rising fits of the first k entries, with x ≥ 0
    if `nonneg`: a block of mean s/c at or above its bound adds −s²/c, one below it adds nothing.
    """
    last, errors[0] = -1, 0.0
    gains = np.empty(a.size + 1)  # of the blocks so far
    gains[0] = 0.0
    for k in range(a.size):
        last += 1
        sums[last], counts[last] = a[k], 1.0
        while last > 0 and sums[last - 1] * counts[last] >= sums[last] * counts[last - 1]:
            sums[last - 1] += sums[last]
            counts[last - 1] += counts[last]
            last -= 1
        own = 0.0 if nonneg and sums[last] < 0 else sums[last] * sums[last] / counts[last]
        gains[last + 1] = gains[last] + own
        errors[k + 1] = -gains[last + 1]
    return last + 1


@inner
def _spread(sums: Array, counts: Array, blocks: int, nonneg: bool, x: Array) -> None:
    """Write the mean of each block to its entries."""
    k = 0
    for block in range(blocks):
        mean = sums[block] / counts[block]
        for _ in range(int(counts[block])):
            x[k] = max(mean, 0.0) if nonneg else mean
            k += 1


@inner
def _scale(a: Array) -> float:
    """Return a power of two that brings the largest entry of a near one, so that squares exist."""
    size = np.abs(a).max()
    return 2.0 ** -np.floor(np.log2(size)) if 0 < size < np.inf else 1.0


@jit
def _isotonic_rows(X: Array, nonneg: bool, P: Array) -> None:
    n = X.shape[1]
    sums, counts, errors = np.empty(n), np.empty(n), np.empty(n + 1)
    a, x = np.empty(n), np.empty(n)
    for i in range(X.shape[0]):
        a[:] = X[i]
        unit = _scale(a)
        a *= unit
        _spread(sums, counts, _pool(a, nonneg, sums, counts, errors), nonneg, x)
        P[i] = x / unit


@jit
def _unimodal_rows(X: Array, nonneg: bool, P: Array) -> None:
    n = X.shape[1]
    sums, counts = np.empty(n), np.empty(n)
    begins, ends = np.empty(n + 1), np.empty(n + 1)
    a, x = np.empty(n), np.empty(n)
    for i in range(X.shape[0]):
        a[:] = X[i]
        unit = _scale(a)
        a *= unit
        back = a[::-1].copy()
        _pool(a, nonneg, sums, counts, begins)
        _pool(back, nonneg, sums, counts, ends)
        # A rise of the first k entries and a fall of the others always make one hill.
        k = np.argmin(begins + ends[::-1])
        _spread(sums, counts, _pool(a[:k], nonneg, sums, counts, begins), nonneg, x)
        P[i, :k] = x[:k] / unit
        _spread(sums, counts, _pool(back[: n - k], nonneg, sums, counts, ends), nonneg, x)
        P[i, k:] = x[: n - k][::-1] / unit


def project_isotonic(X: ArrayLike, increasing: bool = True, nonneg: bool = False) -> Array:
    """Return the nearest rows with x₁ ≤ x₂ ≤ …, or ≥ if not `increasing`, and x ≥ 0 if `nonneg`.

    The nearest non-negative one is the nearest one with its negative entries set to 0.

    Examples
    --------
    >>> project_isotonic([[1.0, 3.0, 2.0]])
    array([[1. , 2.5, 2.5]])
    >>> project_isotonic([[1.0, 3.0, 2.0]], increasing=False)
    array([[2., 2., 2.]])
    """
    rows = as_rows(X) if increasing else as_rows(np.asarray(X)[:, ::-1])
    P = np.empty_like(rows)
    if rows.size:
        _isotonic_rows(rows, nonneg, P)
    return P if increasing else np.ascontiguousarray(P[:, ::-1])


def project_unimodal(X: ArrayLike, nonneg: bool = False) -> Array:
    """Return the nearest rows that rise to one peak and fall after it, with x ≥ 0 if `nonneg`.

    Of several nearest ones it is that with the earliest turn. Clipping the nearest signed row
    would not do: another peak may be better once negative entries cost what they cost.

    Examples
    --------
    >>> project_unimodal([[1.0, 3.0, 2.0, 4.0, 0.0]])
    array([[1. , 2.5, 2.5, 4. , 0. ]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    if rows.size:
        _unimodal_rows(rows, nonneg, P)
    return P
