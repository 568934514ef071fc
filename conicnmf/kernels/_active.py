"""The active-set search of non-negative least squares for the columns of a scaled block.

Atoms with a positive gradient enter a Cholesky factor, a few at a time; the iterate moves toward
the least-squares point of the factor, and the atoms that reach zero on the way leave it. Of the
atoms that entered together at least one has a positive coefficient once those that have not are
taken out again, so every round lowers the objective and no support can return.

Counters start as np.int64(0): a bare 0 is a type of its own, and every callee is compiled twice.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.kernels._factor import Places, forward, push, remove, solve
from conicnmf.types import Array

Work: TypeAlias = tuple[Array, Array, Places, Array, Array, Array]
State: TypeAlias = NDArray[np.int8]

# What an atom may do: enter; it is in the factor; wait until the iterate moves; never enter.
FREE, PASSIVE, BLOCKED, CLOSED = 0, 1, 2, 3

# Up to _BATCH atoms enter together if their gradient is at least _SHARE of the largest: fewer
# gradients, each O(r k), for a few wrong guesses.
_BATCH, _SHARE = 8, 0.25
_REFINEMENTS = 6
# A gradient beyond this many tolerances is not rounding.
_SURE = 10
# C has unit size: at this tolerance the coefficients are so large that gradients mean nothing.
_BLURRED = 1e-3


@inner
def workspace(r: int) -> Work:
    """Return U, z, atoms, v, s, w of one thread: the factor, two scratch vectors, the gradient."""
    places = np.empty(r, np.int64)
    return np.empty((r, r)), np.empty(r), places, np.empty(r), np.empty(r), np.empty(r)


@inner
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


@inner
def tolerance(c: Array, x: Array, noise: float) -> float:
    """Return the size of gradient that is rounding: unit atoms make |G| ≤ 1."""
    size, total = 0.0, 0.0
    for j in range(c.size):
        size = max(size, abs(c[j]))
        total += x[j]
    return 2 * noise * (size + total)


@jit
def step(x: Array, work: Work, state: State, k: int) -> tuple[int, bool]:
    """Move x to the least-squares point of the factor; atoms that reach zero drop out and wait.

    Returns the size of the factor and whether x moved by more than rounding: an atom got in, or
    one left from a positive value.
    """
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
            moved = moved or (share > 0 and (hit >= 0 or x[j] == 0))
            x[j] = s[i] if hit < 0 else x[j] + share * (s[i] - x[j])
        if hit < 0:
            return k, moved
        for i in range(k - 1, -1, -1):
            j = atoms[i]
            if i == hit or (s[i] <= 0 and x[j] <= 0):
                x[j] = 0.0
                state[j] = BLOCKED
                remove(U, z, atoms, k, i)
                k -= 1


@inner
def _exchanges(work: Work, k: int) -> bool:
    """Return whether the atom at place k, as it grows, drives another coefficient to zero."""
    U, z, _, _, s, _ = work
    solve(U, z, k + 1, s)
    lowest = np.inf
    for i in range(k):
        lowest = min(lowest, s[i])
    return lowest <= 0


@inner
def _enter(
    G: Array, c: Array, work: Work, state: State, k: int, tol: float, noise: float
) -> tuple[int, float]:
    """Push the free atoms with the largest gradients; return the factor's size and the worst w."""
    U, z, atoms, v, _, w = work
    worst, cut, before = 0.0, tol, k
    for j in range(c.size):
        if state[j] == PASSIVE:
            worst = max(worst, abs(w[j]))
        elif state[j] != CLOSED:
            worst = max(worst, w[j])
    if worst <= tol:
        return k, worst
    for _ in range(_BATCH):
        best = cut
        chosen: Any = np.int64(-1)
        for j in range(c.size):
            if state[j] == FREE and w[j] > best:
                best, chosen = w[j], j
        if chosen < 0:
            break
        dependent = push(U, z, atoms, k, G, c, chosen, v, noise) <= noise
        # Its coefficient is rounding unless the gradient is not, or another gives way to it.
        if dependent and (k > before or not (best > _SURE * tol or _exchanges(work, k))):
            state[chosen] = BLOCKED
            continue
        state[chosen] = PASSIVE
        cut = max(cut, _SHARE * best)
        k += 1
        if dependent:
            break
    return k, worst


@inlined
def descend(
    G: Array, c: Array, x: Array, work: Work, state: State, k: int, noise: float
) -> tuple[int, bool]:
    """Solve from the feasible point x of the factor over its own and the free atoms.

    Returns the size of the factor, whether the optimum is certain, and leaves its gradient in w.
    """
    U, z, atoms, v, _, w = work
    refined = 0
    for _ in range(3 * c.size + 30):
        k, moved = step(x, work, state, k)
        if moved:
            for j in range(c.size):
                if state[j] == BLOCKED:
                    state[j] = FREE
        gradient(G, c, atoms, k, x, w)
        tol = tolerance(c, x, noise)
        if not tol < _BLURRED:
            return k, False
        size, worst = _enter(G, c, work, state, k, tol, noise)
        if size == k:
            if worst <= tol or refined == _REFINEMENTS:
                # Rounding may leave a little more than tol; only much more is a failure.
                return k, worst <= _SURE * tol
            refined += 1
            for i in range(k):
                v[i] = w[atoms[i]]
            forward(U, v, k, z)
            for i in range(k):
                z[i] += v[i]
        k = size
    return k, False


@inlined
def _solve_column(G: Array, c: Array, x: Array, work: Work, state: State, noise: float) -> bool:
    """Overwrite the guess x by the solution over the open atoms; return whether it is certain."""
    U, z, atoms, v, _, _ = work
    k: Any = np.int64(0)
    for j in range(c.size):
        guessed, x[j] = x[j] > 0, 0.0
        if guessed and push(U, z, atoms, k, G, c, j, v, noise) > 100 * noise:
            state[j] = PASSIVE
            k += 1
    # From x = 0, the first step drops all negative coefficients at once till none is left.
    return bool(descend(G, c, x, work, state, k, noise)[1])


@jit
def solve_range(
    G: Array,
    C: Array,
    X: Array,
    states: State,
    certain: NDArray[np.bool_],
    first: int,
    last: int,
    noise: float,
) -> None:
    """Solve the columns first…last in place over their open atoms.

    G holds one matrix for all columns, or one for each.
    """
    work = workspace(G.shape[1])
    shared = len(G) == 1
    for n in range(first, last):
        own = G[0 if shared else n]
        certain[n] = _solve_column(own, C[n], X[n], work, states[n], noise)
