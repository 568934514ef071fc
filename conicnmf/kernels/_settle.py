"""A few exchanges of atoms from a guessed support, for columns that sum to a total.

On a support S the minimizer of ½bᵀGb − cᵀb with eᵀb = t is b = G_SS⁻¹(c − νe), the ν from the sum.
Atoms with b ≤ 0 leave all at once, the one with the largest gradient enters. That may go round in
circles, so exchanges are counted, and what has not settled is left to another method. What has is
the minimizer: all conditions of optimality were looked at.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.types import Array

_EXCHANGES = 8
_ROUNDING = 1e-13
"""The part of the terms of a gradient that is rounding."""
_DEPENDENT = 1e-10
"""The part of an atom's square beyond the others, below which it is no direction of its own."""


@inner
def _factorize(G: Array, atoms: NDArray[np.int64], k: int, L: Array) -> bool:
    """Write the Cholesky factor of the first k atoms; return whether they are independent."""
    for i in range(k):
        for j in range(i + 1):
            total = G[atoms[i], atoms[j]]
            for t in range(j):
                total -= L[i, t] * L[j, t]
            if i > j:
                L[i, j] = total / L[j, j]
            elif total > _DEPENDENT * G[atoms[i], atoms[i]]:
                L[i, i] = math.sqrt(total)
            else:
                return False
    return True


@inner
def _solve(L: Array, k: int, x: Array) -> None:
    """Overwrite x by the solution of L Lᵀ x = x."""
    for i in range(k):
        for t in range(i):
            x[i] -= L[i, t] * x[t]
        x[i] /= L[i, i]
    for i in range(k - 1, -1, -1):
        for t in range(i + 1, k):
            x[i] -= L[t, i] * x[t]
        x[i] /= L[i, i]


@inlined
def _settle_column(
    G: Array, c: Array, total: float, x: Array, inside: NDArray[np.bool_], work: Array
) -> bool:
    """Overwrite x by the solution where a few exchanges from `inside` reach it."""
    r = c.size
    L, b, e = work[:r], work[r], work[r + 1]
    atoms = np.empty(r, np.int64)
    for _ in range(_EXCHANGES):
        k = 0
        for j in range(r):
            if inside[j]:
                atoms[k] = j
                b[k], e[k] = c[j], 1.0
                k += 1
        if k == 0 or not _factorize(G, atoms, k, L):
            return False
        _solve(L, k, b)
        _solve(L, k, e)
        sums, ones = 0.0, 0.0
        for i in range(k):
            sums += b[i]
            ones += e[i]
        shift = (sums - total) / ones
        left = False
        for i in range(k):
            b[i] -= shift * e[i]
            if not b[i] > 0:
                inside[atoms[i]] = False
                left = True
        if left:
            continue
        entering, most = -1, 0.0
        for j in range(r):
            if not inside[j]:
                slope, size = c[j] - shift, abs(c[j]) + abs(shift)
                for i in range(k):
                    slope -= G[j, atoms[i]] * b[i]
                    size += abs(G[j, atoms[i]]) * b[i]
                if slope > max(most, _ROUNDING * size):
                    entering, most = j, slope
        if entering < 0:
            for j in range(r):
                x[j] = 0.0
            for i in range(k):
                x[atoms[i]] = b[i]
            return True
        inside[entering] = True
    return False


@jit
def settle_range(
    G: Array,
    C: Array,
    total: float,
    X: Array,
    inside: NDArray[np.bool_],
    settled: NDArray[np.bool_],
    first: int,
    last: int,
) -> None:
    """Solve the columns first…last, contiguous rows here, and say which have settled.

    G holds one matrix for all columns, or one for each.
    """
    r = C.shape[1]
    work = np.empty((r + 2, r))
    shared = len(G) == 1
    for n in range(first, last):
        own = G[0 if shared else n]
        settled[n] = _settle_column(own, C[n], total, X[n], inside[n], work)
