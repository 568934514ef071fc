"""Orthogonal matching pursuit for the columns of a scaled block.

What was selected for a column is a small block of its own: its least squares see the selected
atoms only, and one gradient over all atoms is left for each that is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.geometry.compilers import inlined, jit
from conicnmf.kernels._active import FREE, PASSIVE, State, Work, descend, gradient, workspace
from conicnmf.kernels._factor import Places, push, solve
from conicnmf.types import Array

_APART = 1e-4
"""The squared distance of a unit atom to the others from which plain least squares need no care."""
Small = tuple[Array, Array, State, Work]


@inlined
def _grow(G: Array, c: Array, small: Small, x: Array, chosen: Places, p: int, j: int) -> None:
    """Make atom j the one at place p of the selected ones."""
    own, pulls, state, _ = small
    chosen[p] = j
    for i in range(p + 1):
        own[p, i] = own[i, p] = G[j, chosen[i]]
    pulls[p], x[p], state[p] = c[j], 0.0, FREE


@inlined
def _joins(own: Array, pulls: Array, x: Array, work: Work, k: int, noise: float) -> bool:
    """Let atom k into a factor of all before it, if all coefficients are positive then."""
    U, z, atoms, v, s, _ = work
    if push(U, z, atoms, k, own, pulls, k, v, noise) <= _APART:
        return False
    solve(U, z, k + 1, s)
    for i in range(k + 1):
        if s[i] <= 0:
            return False
    for i in range(k + 1):
        x[atoms[i]] = s[i]
    return True


@jit
def largest(w: Array) -> int:
    """Return the first place of the largest entry, −1 if all are −∞.

    Eight entries are looked at together: one after the other, each comparison waits for the last.
    """
    best, j = -np.inf, -1
    whole = w.size - w.size % 8
    for t in range(0, whole, 8):
        a = w[t] if w[t] > w[t + 1] else w[t + 1]
        b = w[t + 2] if w[t + 2] > w[t + 3] else w[t + 3]
        c = w[t + 4] if w[t + 4] > w[t + 5] else w[t + 5]
        d = w[t + 6] if w[t + 6] > w[t + 7] else w[t + 7]
        a, c = a if a > b else b, c if c > d else d
        if (a if a > c else c) > best:
            for i in range(t, t + 8):
                if w[i] > best:
                    best, j = w[i], i
    for i in range(whole, w.size):
        if w[i] > best:
            best, j = w[i], i
    return j


@inlined
def _select(
    G: Array, c: Array, chosen: Places, p: int, x: Array, places: Places, full: Array, w: Array
) -> int:
    """Return the atom with the largest gradient that is not selected, or −1; `full` is zero."""
    k: Any = np.int64(0)
    for i in range(p):
        if x[i] > 0:
            full[chosen[i]] = x[i]
            places[k] = chosen[i]
            k += 1
    gradient(G, c, places, k, full, w)
    for i in range(p):
        full[chosen[i]] = 0.0
        w[chosen[i]] = -np.inf
    return int(largest(w))


@inlined
def _pursue(
    G: Array,
    c: Array,
    yy: float,
    x: Array,
    chosen: Places,
    small: Small,
    whole: tuple[Places, Array, Array],
    limit: float,
    noise: float,
) -> int:
    """Write the selected atoms and their coefficients; return how many there are."""
    own, pulls, state, work = small
    places, full, w = whole
    k: Any = np.int64(0)
    for p in range(chosen.size):
        rest, total = yy, 0.0
        for i in range(p):
            rest -= pulls[i] * x[i]  # ‖y‖² − cᵀx, as x is optimal on its atoms
            total += x[i]
        if rest <= limit:
            return p
        j = _select(G, c, chosen, p, x, places, full, w)
        if j < 0 or w[j] <= 2 * noise * (1 + total):  # c has unit size
            return p
        _grow(G, c, small, x, chosen, p, j)
        if k == p and _joins(own, pulls, x, work, k, noise):
            state[p] = PASSIVE
            k += 1
        else:
            k, _ = descend(own, pulls[: p + 1], x, work, state, k, noise)
    return chosen.size


@jit
def pursue_range(
    G: Array,
    C: Array,
    yy: Array,
    X: Array,
    chosen: Places,
    counts: Places,
    rel_error: float,
    first: int,
    last: int,
    noise: float,
) -> None:
    """Select atoms for the columns first…last, one by one, until ‖y − A x‖² ≤ rel_error ‖y‖².

    Row n of `chosen` gets the atoms of column n, row n of X their coefficients; `counts` says how
    many there are. G holds one matrix for all columns, or one for each.
    """
    r, most = C.shape[1], X.shape[1]
    pulls, state = np.empty(most), np.full(most, PASSIVE, np.int8)
    small = np.empty((most, most)), pulls, state, workspace(most)
    whole = np.empty(r, np.int64), np.zeros(r), np.empty(r)
    shared = len(G) == 1
    for n in range(first, last):
        own = G[0 if shared else n]
        limit = rel_error * yy[n]
        counts[n] = _pursue(own, C[n], yy[n], X[n], chosen[n], small, whole, limit, noise)
