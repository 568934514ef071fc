"""Cyclic coordinate descent (HALS) on the non-negative least-squares block, in tiles of columns.

The exact minimizer of ‖Y − A B‖² over row j with the others fixed is
b_j ← max(lower, b_j + (c_j − G_j B)/G_jj). An update of column k reads only column k, so a few
columns can go through all rows and all sweeps while they stay in the cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.errors import InputError
from conicnmf.geometry.compilers import inner, jit
from conicnmf.geometry.first_calls import FirstCalls
from conicnmf.kernels._columns import as_block
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array

_TILE_BYTES = 128 * 1024  # well inside a second-level cache, and long inner loops at rank 400
_SMALL = 3e6
"""Products up to which first sweeps are made by NumPy, in some milliseconds, and by one thread."""


@inner
def _subtract_products(G: Array, j: int, tile: Array, width: int, rest: Array) -> None:
    """Take G[j] times the tile off `rest`, four rows at a time to spare loads and stores."""
    r = G.shape[0]
    i = 0
    while i + 4 <= r:
        g0, g1, g2, g3 = G[j, i], G[j, i + 1], G[j, i + 2], G[j, i + 3]
        for t in range(width):
            rest[t] -= (g0 * tile[i, t] + g1 * tile[i + 1, t]) + (
                g2 * tile[i + 2, t] + g3 * tile[i + 3, t]
            )
        i += 4
    while i < r:
        g0 = G[j, i]
        for t in range(width):
            rest[t] -= g0 * tile[i, t]
        i += 1


@inner
def _sweep(G: Array, C: Array, at: int, tile: Array, width: int, limits: Array) -> None:
    """Update every row of a tile once."""
    rest = np.empty(width, tile.dtype)
    low, tiny = limits[0], limits[1]
    for j in range(G.shape[0]):
        if G[j, j] < tiny:
            # Of a zero atom only the price of its row is left, which is least at the bound.
            for t in range(width):
                if C[j, at + t] < 0 and low > -np.inf:
                    tile[j, t] = low
            continue
        inverse = rest.dtype.type(1) / G[j, j]
        for t in range(width):
            rest[t] = C[j, at + t]
        _subtract_products(G, j, tile, width, rest)
        for t in range(width):
            new = tile[j, t] + rest[t] * inverse
            tile[j, t] = low if new < low else new  # unlike max, hands a nan on


@jit
def _sweep_range(
    G: Array, C: Array, B: Array, first: int, last: int, sweeps: int, limits: Array
) -> None:
    """Sweep the columns first…last of B in place."""
    r = G.shape[0]
    size = max(16, _TILE_BYTES // (r * B.itemsize) // 16 * 16)
    tile = np.empty((r, size), B.dtype)
    for at in range(first, last, size):
        width = min(size, last - at)
        for j in range(r):
            for t in range(width):
                tile[j, t] = B[j, at + t]
        for _ in range(sweeps):
            _sweep(G, C, at, tile, width, limits)
        for j in range(r):
            for t in range(width):
                B[j, at + t] = tile[j, t]


def _sweep_arrays(
    G: Array, C: Array, B: Array, first: int, last: int, sweeps: int, limits: Array
) -> None:
    """Do the same in NumPy, with the products of four rows added in the same order."""
    low, tiny = limits
    r, B, C = len(G), B[:, first:last], C[:, first:last]
    for _ in range(sweeps):
        for j in range(r):
            if G[j, j] < tiny:
                B[j][(C[j] < 0) & (low > -np.inf)] = low
                continue
            products = G[j, :, None] * B
            rest = C[j].copy()
            for i in range(0, r - 3, 4):
                rest -= (products[i] + products[i + 1]) + (products[i + 2] + products[i + 3])
            for i in range(r - r % 4, r):
                rest -= products[i]
            new = B[j] + rest * (G.dtype.type(1) / G[j, j])
            B[j] = np.where(new < low, low, new)


_columns = FirstCalls(_sweep_range, _sweep_arrays)


def hals_sweeps(G: ArrayLike, C: ArrayLike, B: ArrayLike, sweeps: int, lower: float = 0.0) -> Array:
    """Return B after cyclic exact updates of its rows.

    Parameters
    ----------
    G : array of shape (r, r)
        AᵀA. A row whose diagonal entry is zero belongs to a zero atom: it goes to `lower` where C is
        negative, as a penalty makes it, and is left as it is elsewhere.
    C : array of shape (r, n)
        AᵀY, less the slope of penalties.
    B : array of shape (r, n)
        The start; it is not changed.
    sweeps : int
        How often every row is updated, at least 1.
    lower : float
        The smallest value an updated entry may take.

    Returns
    -------
    array of shape (r, n)
        float32 if G and C are, else float64. The objective has not risen, if the start respects
        `lower`.

    Examples
    --------
    >>> G, C = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0], [3.0]])
    >>> hals_sweeps(G, C, np.zeros((2, 1)), sweeps=20).ravel().round(6)
    array([1., 1.])
    """
    G, C = as_block(G, C)
    out = np.array(B, dtype=G.dtype, order="C")
    if out.shape != C.shape:
        raise InputError(f"B must have the shape of C, {C.shape}, got {out.shape}")
    if sweeps < 1:
        raise InputError(f"sweeps must be at least 1, got {sweeps}")
    G, C = (np.require(array, requirements=["C", "W"]) for array in (G, C))
    limits = np.array([lower, np.finfo(G.dtype).tiny], dtype=G.dtype)

    r, n = C.shape
    products = n * r * r * sweeps

    def run(first: int, last: int) -> None:
        small = products <= _SMALL and last - first == n
        _columns(G, C, out, first, last, sweeps, limits, small=small)

    over_columns(run, n, work=0.05 * products)
    return out
