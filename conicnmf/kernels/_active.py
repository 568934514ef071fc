"""The active-set search of non-negative least squares for one column of a scaled block.

Atoms with a positive gradient enter a Cholesky factor, a few at a time; the iterate moves towards
the least-squares point of the factor, and the atoms that reach zero on the way leave it. Of the
atoms that entered together at least one has a positive coefficient once those that have not are
taken out again, so every round lowers the objective and no support can return.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from conicnmf._types import Array
from conicnmf.kernels._factor import Places, forward, push, remove, solve
from conicnmf.kernels._jit import jit

Work: TypeAlias = tuple[Array, Array, Places, Array, Array, Array]
State: TypeAlias = NDArray[np.int8]

# What an atom may do: enter; it is in the factor; wait until the iterate moves; never enter.
FREE, PASSIVE, BLOCKED, CLOSED = 0, 1, 2, 3

# Up to _BATCH atoms enter together if their gradient is at least _SHARE of the largest: fewer
# gradients, each O(r k), for a few wrong guesses.
_BATCH, _SHARE = 8, 0.4
_REFINEMENTS = 6
_SWEEPS = 1000


@jit
def workspace(r: int) -> Work:
    """Return U, z, atoms, v, s, w of one thread: the factor, two scratch vectors, the gradient."""
    places = np.empty(r, np.int64)
    return np.empty((r, r)), np.empty(r), places, np.empty(r), np.empty(r), np.empty(r)


@jit
def gradient(G: Array, c: Array, atoms: Places, k: int, x: Array, w: Array) -> None:
    """Write w = c − G x, where x lives on the first k atoms."""
    r = c.size
    for t in range(r):
        w[t] = c[t]
    i = 0
    while i + 4 <= k:
        f, g, h, m = atoms[i], atoms[i + 1], atoms[i + 2], atoms[i + 3]
        xf, xg, xh, xm = x[f], x[g], x[h], x[m]
        for t in range(r):
            w[t] -= (xf * G[f, t] + xg * G[g, t]) + (xh * G[h, t] + xm * G[m, t])
        i += 4
    while i < k:
        f = atoms[i]
        xf = x[f]
        for t in range(r):
            w[t] -= xf * G[f, t]
        i += 1


@jit
def tolerance(c: Array, x: Array, k: int, eps: float) -> float:
    """Return the size of gradient that is rounding: unit atoms make |G| ≤ 1."""
    size, total = 0.0, 0.0
    for j in range(c.size):
        size = max(size, abs(c[j]))
        total += x[j]
    return 4 * eps * (k + 4) * (size + total)


@jit
def _enter(G: Array, c: Array, work: Work, state: State, k: int, tol: float, eps: float) -> int:
    """Push the free atoms with the largest gradients and return the size of the factor."""
    U, z, atoms, v, _, w = work
    cut = tol
    for _ in range(_BATCH):
        best, chosen = cut, -1
        for j in range(c.size):
            if state[j] == FREE and w[j] > best:
                best, chosen = w[j], j
        if chosen < 0:
            break
        cut = max(cut, _SHARE * best)
        push(U, z, atoms, k, G, c, chosen, v, eps * (k + 4))
        state[chosen] = PASSIVE
        k += 1
    return k


@jit
def step(x: Array, work: Work, state: State, k: int) -> tuple[int, bool]:
    """Move x to the least-squares point of the factor, dropping the atoms that reach zero."""
    U, z, atoms, _, s, _ = work
    moved = False
    while True:
        solve(U, z, k, s)
        share, hit = 1.0, -1
        for i in range(k):
            if s[i] <= 0:
                here = x[atoms[i]]
                ratio = here / (here - s[i]) if here > 0 else 0.0
                if hit < 0 or ratio < share:
                    share, hit = ratio, i
        for i in range(k):
            j = atoms[i]
            x[j] = s[i] if hit < 0 else x[j] + share * (s[i] - x[j])
        moved = moved or share > 0
        if hit < 0:
            return k, moved
        for i in range(k - 1, -1, -1):
            j = atoms[i]
            if i == hit or (s[i] <= 0 and x[j] <= 0):
                x[j] = 0.0
                state[j] = BLOCKED
                remove(U, z, atoms, k, i)
                k -= 1


@jit
def release(state: State) -> None:
    """Let the atoms that waited for a move enter again."""
    for j in range(state.size):
        if state[j] == BLOCKED:
            state[j] = FREE


@jit
def descend(
    G: Array, c: Array, x: Array, work: Work, state: State, k: int, eps: float, rounds: int
) -> tuple[int, bool]:
    """Solve from the point x of the factor over its own and the free atoms.

    Returns the size of the factor, whether the optimum is certain, and leaves its gradient in w.
    """
    U, z, atoms, v, _, w = work
    refined = 0
    for _ in range(rounds):
        gradient(G, c, atoms, k, x, w)
        tol = tolerance(c, x, k, eps)
        size = _enter(G, c, work, state, k, tol, eps)
        if size == k:
            worst = 0.0
            for j in range(c.size):
                if state[j] == PASSIVE:
                    worst = max(worst, abs(w[j]))
                elif state[j] != CLOSED:
                    worst = max(worst, w[j])
            if worst <= tol or refined == _REFINEMENTS:
                # Rounding may leave a little more than tol; only much more is a failure.
                return k, worst <= 100 * tol
            refined += 1
            for i in range(k):
                v[i] = w[atoms[i]]
            forward(U, v, k, z)
            for i in range(k):
                z[i] += v[i]
        k, moved = step(x, work, state, size)
        if moved:
            release(state)
    return k, False


@jit
def start(G: Array, c: Array, x: Array, work: Work, state: State, eps: float) -> int:
    """Build the factor of the positive entries of x, without those that would turn negative.

    Returns its size, with x on its least-squares point; entries not in it become zero.
    """
    U, z, atoms, v, s, _ = work
    k = 0
    for j in range(c.size):
        if x[j] > 0 and push(U, z, atoms, k, G, c, j, v, eps) > 1e3 * eps * (k + 4):
            state[j] = PASSIVE
            k += 1
        x[j] = 0.0
    negative = True
    while negative:
        negative = False
        solve(U, z, k, s)
        for i in range(k - 1, -1, -1):
            if s[i] <= 0:
                negative = True
                state[atoms[i]] = FREE
                remove(U, z, atoms, k, i)
                k -= 1
    for i in range(k):
        x[atoms[i]] = s[i]
    return k


@jit
def _coordinate_descent(G: Array, c: Array, x: Array, w: Array, eps: float) -> None:
    """Finish x by exact coordinate steps, which cannot cycle: every one lowers the objective."""
    r = c.size
    for t in range(r):
        w[t] = c[t]
        for j in range(r):
            w[t] -= G[t, j] * x[j]
    for _ in range(_SWEEPS):
        tol = tolerance(c, x, r, eps)
        worst = 0.0
        for j in range(r):
            change = max(w[j], -x[j])
            if G[j, j] == 0 or change == 0:
                continue
            worst = max(worst, abs(change))
            x[j] += change
            for t in range(r):
                w[t] -= change * G[j, t]
        if worst <= tol:
            return


@jit
def solve_column(
    G: Array, c: Array, x: Array, work: Work, state: State, eps: float, rounds: int
) -> None:
    """Overwrite x, whose positive entries are a guess of the support, by the exact solution."""
    for j in range(c.size):
        state[j] = FREE
    k = start(G, c, x, work, state, eps)
    _, certain = descend(G, c, x, work, state, k, eps, rounds)
    if not certain:
        _coordinate_descent(G, c, x, work[5], eps)
