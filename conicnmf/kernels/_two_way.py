"""Pursuit in both directions for one column of a scaled block: atoms are added and dropped."""

from __future__ import annotations

import numpy as np

from conicnmf._types import Array
from conicnmf.kernels._active import (
    CLOSED,
    FREE,
    PASSIVE,
    State,
    Work,
    descend,
    release,
    step,
    tolerance,
)
from conicnmf.kernels._factor import Places, invert, push, remove
from conicnmf.kernels._jit import jit


@jit
def residual(c: Array, yy: float, x: Array, atoms: Places, k: int) -> float:
    """Return ‖y − A x‖² = ‖y‖² − cᵀx, which holds where x is optimal on its support."""
    fit = 0.0
    for i in range(k):
        fit += c[atoms[i]] * x[atoms[i]]
    return yy - fit


@jit
def _estimate(
    G: Array,
    x: Array,
    work: Work,
    state: State,
    k: int,
    price: float,
    tol: float,
    Q: Array,
    A: Array,
    T: Array,
    worth: Array,
) -> None:
    """Write what adding each outside or dropping each inside atom takes off the cost.

    Exact as long as no coefficient changes sign. Q = U⁻ᵀ G_P holds the outside atoms' parts in
    the span of the support; what is left of their squares is the distance to it.
    """
    U, _, atoms, v, _, w = work
    r = G.shape[0]
    for j in range(r):
        v[j] = G[j, j]
    for i in range(k):
        for t in range(r):
            Q[i, t] = G[atoms[i], t]
        for h in range(i):
            a = U[h, i]
            for t in range(r):
                Q[i, t] -= a * Q[h, t]
        a = 1 / U[i, i]
        for t in range(r):
            Q[i, t] *= a
            v[t] -= Q[i, t] * Q[i, t]
    for j in range(r):
        enters = k < Q.shape[0] and state[j] == CLOSED and w[j] > tol and v[j] > tol
        worth[j] = w[j] * w[j] / v[j] - price if enters else 0.0
    invert(U, k, T, A)
    for i in range(k):
        worth[atoms[i]] = price - x[atoms[i]] ** 2 / A[i, i]


@jit
def _change(
    G: Array, c: Array, x: Array, work: Work, state: State, k: int, j: int, eps: float
) -> int:
    """Add atom j, or drop it if it is in, and solve; atoms that come out as zero are left out."""
    U, z, atoms, _, _, _ = work
    if state[j] == PASSIVE:
        place = 0
        while atoms[place] != j:
            place += 1
        remove(U, z, atoms, k, place)
        x[j] = 0.0
        state[j] = CLOSED
        k, _ = step(x, work, state, k - 1)
        release(state)
    else:
        state[j] = FREE
    k, _ = descend(G, c, x, work, state, k, eps, 3 * c.size + 30)
    for i in range(c.size):
        if state[i] != PASSIVE:
            state[i] = CLOSED
    return k


@jit
def _rebuild(
    G: Array, c: Array, x: Array, work: Work, state: State, old: Places, values: Array, eps: float
) -> int:
    """Go back to the support and the coefficients before a change that did not pay."""
    U, z, atoms, v, _, _ = work
    x[:] = values
    state[:] = CLOSED
    for i in range(old.size):
        push(U, z, atoms, i, G, c, old[i], v, eps * (i + 4))
        state[old[i]] = PASSIVE
    return old.size


@jit
def two_way_column(
    G: Array,
    c: Array,
    yy: float,
    x: Array,
    price: float,
    work: Work,
    Q: Array,
    A: Array,
    T: Array,
    eps: float,
) -> None:
    """Make the most promising change that lowers the cost until none does."""
    atoms, w = work[2], work[5]
    state = np.full(c.size, CLOSED, np.int8)
    worth = np.empty(c.size)
    w[:] = c
    k, cost = 0, yy
    # A smaller fall may be rounding; every accepted one is larger, so no support comes twice.
    margin = 64 * eps * max(yy, 1.0)
    _estimate(G, x, work, state, k, price, tolerance(c, x, k, eps), Q, A, T, worth)
    while True:
        j = np.argmax(worth)
        if not worth[j] > margin:
            return
        old, values = atoms[:k].copy(), x.copy()
        k = _change(G, c, x, work, state, k, j, eps)
        changed = residual(c, yy, x, atoms, k) + price * k
        if changed < cost - margin:
            cost = changed
            _estimate(G, x, work, state, k, price, tolerance(c, x, k, eps), Q, A, T, worth)
        else:
            k = _rebuild(G, c, x, work, state, old, values, eps)
            worth[j] = 0.0
