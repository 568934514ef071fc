"""Pursuit in both directions for one column of a scaled block: atoms are added and dropped.

The iterate is always the least-squares point of its atoms with every coefficient positive, hence
the non-negative least-squares solution on its own support.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.kernels._active import Work, gradient, step, tolerance, workspace
from conicnmf.kernels._factor import Places, invert, push
from conicnmf.types import Array


@inner
def _distances(G: Array, U: Array, atoms: Places, k: int, Q: Array, left: Array) -> None:
    """Write the squared distance of every atom to the span of the first k.

    Row by row, Q = U⁻ᵀ G_P holds the coordinates of their projections.
    """
    r = G.shape[0]
    for j in range(r):
        left[j] = G[j, j]
    for i in range(k):
        for t in range(r):
            Q[i, t] = G[atoms[i], t]
        for h in range(i):
            a = U[h, i]
            for t in range(r):
                Q[i, t] -= a * Q[h, t]
        a = U[i, i]
        for t in range(r):
            Q[i, t] *= a
            left[t] -= Q[i, t] * Q[i, t]


@inlined
def _estimate(
    G: Array,
    c: Array,
    x: Array,
    work: Work,
    k: int,
    price: float,
    noise: float,
    Q: Array,
    A: Array,
    T: Array,
    worth: Array,
) -> None:
    """Write what adding each outside or dropping each inside atom takes off the cost.

    Exact as long as no coefficient changes sign.
    """
    U, _, atoms, v, _, w = work
    gradient(G, c, atoms, k, x, w)
    tol = tolerance(c, x, noise)
    _distances(G, U, atoms, k, Q, v)
    for j in range(c.size):
        enters = k < Q.shape[0] and x[j] == 0 and w[j] > tol and v[j] > tol
        worth[j] = w[j] * w[j] / v[j] - price if enters else 0.0
    invert(U, k, T, A)
    for i in range(k):
        worth[atoms[i]] = price - x[atoms[i]] ** 2 / A[i, i]


@inlined
def _cost(c: Array, yy: float, x: Array, atoms: Places, k: int, price: float) -> float:
    """Return ‖y − A x‖² + price·k; the square is ‖y‖² − cᵀx where x is optimal on its support."""
    cost = yy + price * k
    for i in range(k):
        cost -= c[atoms[i]] * x[atoms[i]]
    return cost


@inner
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy a vector; a slice assignment would compile the text of its error messages too."""
    for i in range(source.size):
        target[i] = source[i]


@inlined
def _toggle(atoms: Places, k: int, j: int, support: Places) -> int:
    """List the first k atoms without j, or with it if it is not among them."""
    size = 0
    for i in range(k):
        if atoms[i] != j:
            support[size] = atoms[i]
            size += 1
    if size == k:
        support[size] = j
        size += 1
    return size


@inlined
def _two_way_column(
    G: Array,
    c: Array,
    yy: float,
    x: Array,
    price: float,
    work: Work,
    Q: Array,
    A: Array,
    T: Array,
    noise: float,
) -> None:
    """Make the most promising change that lowers the cost until none does."""
    U, z, atoms, v, _, _ = work
    state, worth = np.empty(c.size, np.int8), np.empty(c.size)
    trial, kept, best = np.empty_like(atoms), np.empty_like(atoms), np.empty(c.size)
    k: Any = np.int64(0)
    cost, better = yy, True
    # A smaller fall may be rounding; every accepted one is larger, so no support comes twice.
    margin = 4 * noise * max(yy, 1.0)
    while True:
        if better:
            _estimate(G, c, x, work, k, price, noise, Q, A, T, worth)
            _copy(atoms, kept)
            _copy(x, best)
        chosen: Any = np.int64(0)
        for j in range(c.size):
            if worth[j] > worth[chosen]:
                chosen = j
        _copy(best, x)
        if not worth[chosen] > margin:
            return
        x[chosen] = 0.0
        # The changed support is factored again; atoms that reach zero on the way leave it.
        size = _toggle(kept, k, chosen, trial)
        for i in range(size):
            push(U, z, atoms, i, G, c, trial[i], v, noise)
        size, _ = step(x, work, state, size)
        changed = _cost(c, yy, x, atoms, size, price)
        better = changed < cost - margin
        if better:
            k, cost = size, changed
        worth[chosen] = 0.0


@jit
def two_way_range(
    G: Array,
    C: Array,
    yy: Array,
    X: Array,
    prices: Array,
    most: int,
    first: int,
    last: int,
    noise: float,
) -> None:
    """Code the columns first…last, from X = 0, with at most `most` atoms each."""
    r = G.shape[1]
    work = workspace(r)
    Q, A, T = np.empty((most, r)), np.empty((most, most)), np.empty((most, most))
    for n in range(first, last):
        own = G[0 if len(G) == 1 else n]
        _two_way_column(own, C[n], yy[n], X[n], prices[n], work, Q, A, T, noise)
