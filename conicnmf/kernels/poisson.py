"""Steps on one coordinate after the other for Σ s b − Σ y log(A b) over b ≥ 0, the block of counts.

In one coordinate b with the others fixed, the slope is s − Σ y a/(p + a (b − b₀)), p = A b₀ being the
model. The hyperbola K/(b + d) with the pull Σ y a/p and the bend Σ y a²/p² at b₀ lies below the sum, by
Jensen's inequality, so its root lies below the root of the slope: nearer to it than Newton's, whose
line is the hyperbola's tangent. A step up is therefore never too long. A step down may pass the root,
where the cost can rise: then the chord between the slopes at both ends meets zero between the root
and b₀, because the slope bends down, and that point is taken.

An update of a column reads that column alone. Dense data are taken in tiles of columns that stay
in the cache, of sparse data only what is stored is visited.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.geometry.compilers import inner, jit
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array, Data

_TILE_BYTES = 256 * 1024
_FLOOR = 1e-100  # a model of zero under data is infinitely bad, not undefined


@inner
def _root(s: float, ridge: float, d: float, K: float) -> float:
    """Return the root of s + ridge·x = K/(x + d) for d ≥ 0, zero where it is not positive."""
    rest = K - s * d
    if rest <= 0:
        return 0.0
    half = s + ridge * d
    found: float = 2 * rest / (half + math.sqrt(half * half + 4 * ridge * rest))
    return found


@inner
def _step(b: float, s: float, ridge: float, pull: float, bend: float) -> float:
    """Return the root of the hyperbola that touches the pull at b."""
    if bend <= 0:
        return 0.0 if s + ridge * b > 0 else b
    found: float = _root(s, ridge, max(pull / bend - b, 0.0), pull * pull / bend)
    return found


@inner
def _between(b: float, s: float, ridge: float, pull: float, low: float, lower: float) -> float:
    """Return the lowest point that is sure to lie between the root and b, where `low` passed it.

    The chord is one; the multiplicative step, with all of the pull at zero, is another.
    """
    slope = s + ridge * b - pull
    if lower >= 0 or slope <= 0:  # the root itself, or rounding round it
        return low if lower >= 0 else b
    chord = low + (b - low) * (lower / (lower - slope))
    scaled: float = _root(s, ridge, 0.0, pull * b)
    return min(chord, scaled)


@inner
def _load(Y: Array, A: Array, B: Array, at: int, width: int, y: Array, p: Array) -> None:
    """Copy a tile of the data and compute the model there."""
    for i in range(A.shape[0]):
        for t in range(width):
            y[i, t], p[i, t] = Y[i, at + t], _FLOOR
        for k in range(A.shape[1]):
            a = A[i, k]
            for t in range(width):
                p[i, t] += a * B[k, at + t]


@inner
def _pulls(
    A: Array, k: int, y: Array, p: Array, width: int, move: Array, pull: Array, bend: Array
) -> None:
    """Write Σ y a/(p + a·move) and Σ y a²/(p + a·move)² of each column of a tile."""
    for t in range(width):
        pull[t], bend[t] = 0.0, 0.0
    for i in range(A.shape[0]):
        a = A[i, k]
        if a > 0:
            for t in range(width):
                share = a / max(p[i, t] + a * move[t], _FLOOR)
                pull[t] += y[i, t] * share
                bend[t] += y[i, t] * share * share


@inner
def _visit(
    A: Array, k: int, y: Array, p: Array, s: Array, b: Array, ridge: float, width: int, work: Array
) -> None:
    """Update coordinate k of the columns of a tile, and their model with it."""
    move, pull, bend, far, unused = work[0], work[1], work[2], work[3], work[4]
    for t in range(width):
        move[t] = 0.0
    _pulls(A, k, y, p, width, move, pull, bend)
    down = False
    for t in range(width):
        move[t] = _step(b[t], s[t], ridge, pull[t], bend[t]) - b[t]
        down = down or move[t] < 0
    if down:
        _pulls(A, k, y, p, width, move, far, unused)
        for t in range(width):
            if move[t] < 0:
                low = b[t] + move[t]
                lower = s[t] + ridge * low - far[t]
                move[t] = _between(b[t], s[t], ridge, pull[t], low, lower) - b[t]
    for t in range(width):
        b[t] += move[t]
    for i in range(A.shape[0]):
        a = A[i, k]
        if a > 0:
            for t in range(width):
                p[i, t] = max(p[i, t] + a * move[t], _FLOOR)


@jit
def _dense_range(
    Y: Array, A: Array, S: Array, B: Array, ridge: float, sweeps: int, first: int, last: int
) -> None:
    """Sweep the columns first…last of B in place, a tile at a time."""
    m, r = len(A), len(S)
    size = max(8, _TILE_BYTES // (16 * m) // 8 * 8)
    y, p, work = np.empty((m, size)), np.empty((m, size)), np.empty((5, size))
    for at in range(first, last, size):
        width = min(size, last - at)
        _load(Y, A, B, at, width, y, p)
        for _ in range(sweeps):
            for k in range(r):
                s, b = S[k, at : at + width], B[k, at : at + width]
                _visit(A, k, y, p, s, b, ridge, width, work)


@inner
def _visit_stored(
    data: Array, own: Array, p: Array, s: float, b: float, ridge: float, count: int
) -> float:
    """Return a coordinate of one column after its update, and move the model at stored entries."""
    pull, bend = 0.0, 0.0
    for e in range(count):
        share = own[e] / p[e]
        pull += data[e] * share
        bend += data[e] * share * share
    new: float = _step(b, s, ridge, pull, bend)
    if new < b:
        lower = s + ridge * new
        for e in range(count):
            lower -= data[e] * own[e] / max(p[e] + own[e] * (new - b), _FLOOR)
        new = _between(b, s, ridge, pull, new, lower)
    for e in range(count):
        p[e] = max(p[e] + own[e] * (new - b), _FLOOR)
    return new


@jit
def _sparse_range(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: Array,
    A: Array,
    S: Array,
    B: Array,
    ridge: float,
    sweeps: int,
    first: int,
    last: int,
) -> None:
    """Sweep the columns first…last of B in place; only stored entries enter the logarithms."""
    r, free = A.shape[1], len(S)
    most = 0
    for j in range(first, last):
        most = max(most, indptr[j + 1] - indptr[j])
    own, p = np.empty((r, most)), np.empty(most)
    for j in range(first, last):
        begin = indptr[j]
        count = indptr[j + 1] - begin
        for e in range(count):
            p[e] = _FLOOR
            for k in range(r):
                own[k, e] = A[indices[begin + e], k]
                p[e] += own[k, e] * B[k, j]
        for _ in range(sweeps):
            for k in range(free):
                B[k, j] = _visit_stored(data[begin:], own[k], p, S[k, j], B[k, j], ridge, count)


def by_columns(Y: Data) -> Data:
    """Return data as the sweeps read them, in double precision; themselves where they are so.

    Examples
    --------
    >>> by_columns(sp.csr_array(np.eye(2))).format
    'csc'
    """
    if sp.issparse(Y):
        return sp.csc_array(Y, dtype=np.float64)
    return np.ascontiguousarray(Y, dtype=np.float64)


def poisson_sweeps(Y: Data, A: Array, S: Array, B: Array, sweeps: int, ridge: float = 0.0) -> Array:
    """Return B ≥ 0 after cyclic Newton steps on ⟨S, B⟩ + ½ ridge ‖B‖² − Σ y log(A B).

    Parameters
    ----------
    Y : array or sparse array of shape (m, n)
        Non-negative weights of the logarithms: the data.
    A : array of shape (m, r)
        Non-negative.
    S : array of shape (r, n), or with fewer rows
        The slopes of the linear part, Aᵀ1 for the plain divergence. Rows of B beyond these are held.
    B : array of shape (r, n)
        The start, non-negative; it is not changed.
    sweeps : int
        How often every coordinate is visited.
    ridge : float
        A curvature of every coordinate, non-negative.

    Examples
    --------
    >>> A = np.ones((2, 1))
    >>> poisson_sweeps(np.array([[1.0], [3.0]]), A, np.full((1, 1), 2.0), np.ones((1, 1)), 20)
    array([[2.]])
    """
    dtype = B.dtype
    out = np.array(B, dtype=np.float64, order="C")
    A, S = (np.ascontiguousarray(X, dtype=np.float64) for X in (A, S))
    r, n = out.shape
    Y = by_columns(Y)
    if sp.issparse(Y):
        parts = Y.indptr, Y.indices, Y.data

        def run(first: int, last: int) -> None:
            _sparse_range(*parts, A, S, out, ridge, sweeps, first, last)

        over_columns(run, n, work=float(Y.nnz) * r * sweeps)
    else:

        def run(first: int, last: int) -> None:
            _dense_range(Y, A, S, out, ridge, sweeps, first, last)

        over_columns(run, n, work=float(Y.size) * r * sweeps)
    return out.astype(dtype, copy=False)
