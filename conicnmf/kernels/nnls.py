"""Exact non-negative least squares on the Gram matrix, for many right-hand sides at once.

Every column is an active-set search of its own: atoms with a positive gradient enter a Cholesky
factor, a few at a time; the iterate moves towards the least-squares point of the factor, and the
atoms that reach zero on the way leave it. Of the atoms that entered together, at least one has a
positive coefficient when the others that do not are taken out again, so every round lowers the
objective and no support can return.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf._types import Array
from conicnmf.errors import InputError
from conicnmf.kernels._columns import as_block, over_columns, scale_columns
from conicnmf.kernels._factor import add_forward, push, remove, solve
from conicnmf.kernels._jit import jit

# What an atom may do: enter; it is in the factor; wait until the iterate moves; never enter.
FREE, PASSIVE, BLOCKED, CLOSED = 0, 1, 2, 3

# Up to _BATCH atoms enter together if their gradient is at least _SHARE of the largest: fewer
# gradients, each O(r k), for a few wrong guesses.
_BATCH, _SHARE = 8, 0.4
_REFINEMENTS = 6
_SWEEPS = 1000


@jit
def workspace(r):  # type: ignore[no-untyped-def]
    """Return U, z, atoms, v, s, w of one thread: the factor, two scratch vectors, the gradient."""
    places = np.empty(r, np.int64)
    return np.empty((r, r)), np.empty(r), places, np.empty(r), np.empty(r), np.empty(r)


@jit
def gradient(G, c, atoms, k, x, w):  # type: ignore[no-untyped-def]
    """Write w = c − G x, where x lives on the first k atoms."""
    r = c.size
    for l in range(r):
        w[l] = c[l]
    i = 0
    while i + 4 <= k:
        p, q, s, t = atoms[i], atoms[i + 1], atoms[i + 2], atoms[i + 3]
        xp, xq, xs, xt = x[p], x[q], x[s], x[t]
        for l in range(r):
            w[l] -= (xp * G[p, l] + xq * G[q, l]) + (xs * G[s, l] + xt * G[t, l])
        i += 4
    while i < k:
        p = atoms[i]
        xp = x[p]
        for l in range(r):
            w[l] -= xp * G[p, l]
        i += 1


@jit
def tolerance(c, x, k, eps):  # type: ignore[no-untyped-def]
    """Return the size of gradient that is rounding: unit atoms make |G| ≤ 1."""
    size, total = 0.0, 0.0
    for j in range(c.size):
        size = max(size, abs(c[j]))
        total += x[j]
    return 4 * eps * (k + 4) * (size + total)


@jit
def _enter(G, c, work, state, k, tol, eps):  # type: ignore[no-untyped-def]
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
def _step(x, work, state, k):  # type: ignore[no-untyped-def]
    """Move x to the least-squares point of the factor, dropping the atoms that reach zero."""
    U, z, atoms, _, s, _ = work
    moved = False
    while True:
        solve(U, z, k, s)
        step, hit = 1.0, -1
        for i in range(k):
            if s[i] <= 0:
                here = x[atoms[i]]
                ratio = here / (here - s[i]) if here > 0 else 0.0
                if hit < 0 or ratio < step:
                    step, hit = ratio, i
        for i in range(k):
            j = atoms[i]
            x[j] = s[i] if hit < 0 else x[j] + step * (s[i] - x[j])
        moved = moved or step > 0
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
def descend(G, c, x, work, state, k, eps, rounds):  # type: ignore[no-untyped-def]
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
            add_forward(U, v, k, z)
        k, moved = _step(x, work, state, size)
        if moved:
            for j in range(c.size):
                if state[j] == BLOCKED:
                    state[j] = FREE
    return k, False


@jit
def start(G, c, x, work, state, eps):  # type: ignore[no-untyped-def]
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
def _coordinate_descent(G, c, x, w, eps):  # type: ignore[no-untyped-def]
    """Finish x by exact coordinate steps, which cannot cycle: every one lowers the objective."""
    r = c.size
    for l in range(r):
        w[l] = c[l]
        for j in range(r):
            w[l] -= G[l, j] * x[j]
    for _ in range(_SWEEPS):
        tol = tolerance(c, x, r, eps)
        worst = 0.0
        for j in range(r):
            change = max(w[j], -x[j])
            if G[j, j] == 0 or change == 0:
                continue
            worst = max(worst, abs(change))
            x[j] += change
            for l in range(r):
                w[l] -= change * G[j, l]
        if worst <= tol:
            return


@jit
def solve_column(G, c, x, work, state, eps, rounds):  # type: ignore[no-untyped-def]
    """Overwrite x, whose positive entries are a guess of the support, by the exact solution."""
    for j in range(c.size):
        state[j] = FREE
    k = start(G, c, x, work, state, eps)
    _, certain = descend(G, c, x, work, state, k, eps, rounds)
    if not certain:
        _coordinate_descent(G, c, x, work[5], eps)


@jit
def _solve_range(G, C, X, first, last, eps, rounds):  # type: ignore[no-untyped-def]
    r = G.shape[0]
    work = workspace(r)
    state = np.empty(r, np.int8)
    for column in range(first, last):
        solve_column(G, C[column], X[column], work, state, eps, rounds)


def nnls_gram(G: ArrayLike, C: ArrayLike, B0: ArrayLike | None = None) -> Array:
    """Return the exact minimiser over B ≥ 0 of ‖Y − A B‖² for every column.

    Parameters
    ----------
    G : array of shape (r, r)
        AᵀA. It may be singular: zero, equal or dependent atoms are allowed, and an atom whose
        norm is zero keeps coefficient 0.
    C : array of shape (r, n)
        AᵀY. A penalty λ‖B‖₁ on ½‖Y − A B‖² is had by passing AᵀY − λ.
    B0 : array of shape (r, n), optional
        A guess; only its support (entries > 0) is used. Columns in which a guess says little,
        with more than three quarters of many atoms active, start from nothing.

    Returns
    -------
    array of shape (r, n)
        float32 if G and C are, else float64.

    Examples
    --------
    >>> A = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> Y = np.array([[1.0, 2.0], [1.0, -1.0]])
    >>> nnls_gram(A.T @ A, A.T @ Y)
    array([[0., 2.],
           [1., 0.]])
    """
    block = scale_columns(G, C)
    n, r = block.C.shape
    X = _guess(B0, n, r)

    def run(first: int, last: int) -> None:
        _solve_range(block.G, block.C, X, first, last, block.eps, 3 * r + 30)

    over_columns(run, n, work=n * r * min(r, 50.0))
    return block.restore(X)


def kkt_residual(G: ArrayLike, C: ArrayLike, B: ArrayLike) -> float:
    """Return by how much B misses the optimality conditions of non-negative least squares.

    The conditions are b ≥ 0, gradient g = G b − c ≥ 0 and, atom by atom, one of the two zero.
    The residual is the largest |min(b, g)| with both measured in units free of scale: b, times the
    norm of its atom, against the largest such entry of its column; g, divided by the norm of its
    atom, against the largest sum |c| + |G||b| of the terms it is made of, so that rounding alone
    gives about 1e-16.

    Examples
    --------
    >>> kkt_residual([[2.0]], [[4.0]], [[2.0]]), kkt_residual([[2.0]], [[4.0]], [[0.0]])
    (0.0, 1.0)
    """
    block = scale_columns(G, C)
    X: NDArray[Any] = np.asarray(B, dtype=np.float64).T
    if X.shape != block.C.shape:
        raise InputError(f"B must have the shape of C, {block.C.T.shape}, got {X.T.shape}")
    if X.size == 0:
        return 0.0
    X = X / np.where(block.sizes == 0, 1.0, block.sizes)[:, None] * block.norms
    slope = X @ block.G - block.C
    units = (np.abs(block.C) + np.abs(X) @ np.abs(block.G)).max(axis=1, keepdims=True)
    largest = np.abs(X).max(axis=1, keepdims=True)
    inside = np.divide(X, largest, out=np.zeros_like(X), where=largest > 0)
    slope = np.divide(slope, units, out=np.zeros_like(X), where=units > 0)
    return float(np.abs(np.minimum(inside, slope)).max())


def _guess(B0: ArrayLike | None, n: int, r: int) -> NDArray[np.float64]:
    """Return the guessed support, one row per column of the block."""
    if B0 is None:
        return np.zeros((n, r))
    B0 = np.asarray(B0)
    if B0.shape != (r, n):
        raise InputError(f"B0 must have the shape of C, {(r, n)}, got {B0.shape}")
    support = np.ascontiguousarray(B0.T > 0)
    # Atoms leave the factor one by one: from a nearly full start that is slower than entering.
    support[support.sum(axis=1) > max(64, 0.75 * r)] = False
    return support.astype(np.float64)
