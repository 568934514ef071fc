"""Exact non-negative least squares on the Gram matrix, for many right-hand sides at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.errors import InputError
from conicnmf.geometry.first_calls import FirstCalls
from conicnmf.kernels._active import CLOSED, FREE, State, solve_range
from conicnmf.kernels._columns import Columns, scale_columns
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array

_MANY, _GUESSES = 64, 5
_RIDGE = 100
_SWEEPS = 1000
_SMALL = 1e4
"""Products up to which a first search is made by plain Python, in some ten milliseconds."""
_solve_range = FirstCalls(solve_range)


def nnls_gram(G: ArrayLike, C: ArrayLike, B0: ArrayLike | None = None) -> Array:
    """Return the exact minimizer over B ≥ 0 of ‖Y − A B‖² for every column.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        AᵀA, or one such matrix for each column. It may be singular: zero, equal or dependent
        atoms are allowed, and an atom whose norm is zero keeps coefficient 0.
    C : array of shape (r, n)
        AᵀY. A penalty λ‖B‖₁ on ½‖Y − A B‖² is added by passing AᵀY − λ.
    B0 : array of shape (r, n), optional
        A guess; only its support (entries > 0) is used. Columns in which a guess says little,
        with more than three quarters of many atoms active, start from nothing. Without it, a few
        coordinate sweeps make the guess if the atoms are few.

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
    if B0 is None and np.ndim(G) == 2 and block.C.shape[1] <= _MANY:
        B0 = hals_sweeps(G, C, np.zeros(np.shape(C)), _GUESSES)
    X = np.zeros_like(block.C) if B0 is None else _guess(B0, block)
    solve_open(block, X, np.full(X.shape, FREE, np.int8))
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
    slope = (X[:, None] @ block.G)[:, 0] - block.C
    sums = (np.abs(X)[:, None] @ np.abs(block.G))[:, 0]
    units = (np.abs(block.C) + sums).max(axis=1, keepdims=True)
    largest = np.abs(X).max(axis=1, keepdims=True)
    inside = np.divide(X, largest, out=np.zeros_like(X), where=largest > 0)
    slope = np.divide(slope, units, out=np.zeros_like(X), where=units > 0)
    return float(np.abs(np.minimum(inside, slope)).max())


def solve_open(block: Columns, X: NDArray[np.float64], states: State) -> None:
    """Overwrite the guess X of a scaled block by the solution over the atoms not CLOSED.

    Where atoms nearly cancel, huge coefficients change next to nothing and rounding can keep the
    search from a certain end. There a ridge decides, too small to be seen among the terms of the
    gradient. If that fails too, coordinate steps finish: they are slow but cannot cycle.
    """
    doubtful = np.flatnonzero(~_search(block.G, block, X, states))
    if doubtful.size == 0:
        return
    part = block.part(doubtful)
    ridge = _RIDGE * block.noise * np.eye(X.shape[1])
    B, free = np.zeros_like(part.C), np.where(states[doubtful] == CLOSED, CLOSED, FREE)
    certain = _search(part.G + ridge, part, B, free.astype(np.int8))
    for i in np.flatnonzero(~certain):
        atoms = np.flatnonzero(free[i] != CLOSED)
        own = part.G[i if len(part.G) > 1 else 0]
        G, c, x = own[np.ix_(atoms, atoms)], part.C[i, atoms, None], B[i, atoms, None]
        better = 0.5 * x.T @ G @ x < c.T @ x  # than nothing; false for nan
        B[i, atoms] = hals_sweeps(G, c, np.where(better, x, 0.0), _SWEEPS)[:, 0]
    X[doubtful] = B


def _search(G: Array, block: Columns, X: NDArray[np.float64], states: State) -> NDArray[np.bool_]:
    """Run the active-set search on every column; return where its end is certain."""
    n, r = X.shape
    certain = np.empty(n, np.bool_)

    def run(first: int, last: int) -> None:
        _solve_range(
            *(G, block.C, X, states, certain, first, last, block.noise), small=work <= _SMALL
        )

    work = n * r * min(r, 50.0)
    over_columns(run, n, work)
    return certain


def _guess(B0: ArrayLike, block: Columns) -> NDArray[np.float64]:
    """Return the guessed support, one row per column of the block."""
    n, r = block.C.shape
    B0 = np.asarray(B0)
    if B0.shape != (r, n):
        raise InputError(f"B0 must have the shape of C, {(r, n)}, got {B0.shape}")
    support = np.ascontiguousarray(B0.T > 0, dtype=np.float64)
    # Atoms leave the factor one by one: from a nearly full start that is slower than entering.
    support[support.sum(axis=1) > max(_MANY, 0.75 * r)] = 0.0
    return support
