"""Leading singular vectors of a matrix that is known by its products, the same in every run.

ARPACK starts again at a random vector of its own where a Krylov space ends early, as it does for data
of low rank, so two runs differ. Small matrices go through the eigenvectors of their Gram matrix, large
ones through a block of vectors that depends on the seed alone; neither has such a choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.types import Array

_MORE, _STEPS, _RESTARTS = 8, 6, 4
_ACCURACY = 1e-4
"""Of a large matrix, relative to its largest singular value: a start needs no more."""
_ENOUGH = 0.02
"""A restart that explains no more than this part is the last."""
_SMALL = 1500
"""Up to this many rows or columns all eigenvectors are cheap."""


def leading_singular(A: Any, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return U, s and Vᵀ of the largest singular values; those that are zero are left out.

    Parameters
    ----------
    A : array, sparse array or LinearOperator
    count : int
        The most singular values that are wanted.
    rng : numpy.random.Generator

    Returns
    -------
    U, s, Vt : array
        The largest entry of each column of U is positive.

    Examples
    --------
    >>> U, s, Vt = leading_singular(np.diag([3.0, 2.0, 0.0]), 3, np.random.default_rng(0))
    >>> s.round(9), U.shape
    (array([3., 2.]), (3, 2))
    """
    turned = A.shape[0] < A.shape[1]
    tall = A.T if turned else A
    most = min(count, tall.shape[1])
    first = rng.random((tall.shape[1], 1))
    U, s, Vt = _by_gram(tall, most) if len(first) <= _SMALL else _block_krylov(tall, most, first)
    if turned:
        U, Vt = Vt.T, U.T
    kept = s > s.max(initial=0.0) * max(A.shape) * np.finfo(float).eps
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    if not s.size:
        return U, s, Vt
    # Entries that are equal but for rounding must not decide by it.
    sizes = np.abs(U)
    largest = np.argmax(sizes >= (1 - 1e-8) * sizes.max(axis=0), axis=0)
    signs = np.sign(U[largest, np.arange(U.shape[1])])
    return U * signs, s, signs[:, None] * Vt


def _by_gram(A: Any, count: int) -> tuple[Array, Array, Array]:
    """Return the leading singular vectors from the eigenvectors of AᵀA."""
    eye = np.eye(A.shape[1])
    # A few columns at a time: sparse data are never copied into a dense matrix of their size.
    parts = [_times(A.T, _times(A, eye[:, at : at + 64])) for at in range(0, len(eye), 64)]
    gram = np.hstack(parts)
    Q = np.linalg.eigh(gram)[1][:, ::-1][:, : count + _MORE]
    return _within(A, Q, count)


def _within(A: Any, Q: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the leading singular vectors of A on the span of orthonormal columns."""
    U, s, rotation = np.linalg.svd(_times(A, Q), full_matrices=False)
    return U[:, :count], s[:count], (rotation @ Q.T)[:count]


def _block_krylov(A: Any, count: int, first: Array) -> tuple[Array, Array, Array]:
    """Return the leading singular vectors from restarted spaces Q, AᵀA Q, (AᵀA)² Q, and so on."""
    n = A.shape[1]
    # The other vectors only have to point elsewhere, so they may be the same for every seed.
    others = np.random.default_rng(0).standard_normal((n, min(n, count + _MORE) - 1))
    Q = _outside([], np.hstack([first, others]))
    energy = 0.0
    for _ in range(_RESTARTS):
        basis, products = [Q], [_times(A, Q)]
        while len(basis) < _STEPS and sum(Q.shape[1] for Q in basis) < n:
            new = _outside(basis, _times(A.T, products[-1]))
            if not new.shape[1]:
                break
            basis.append(new)
            products.append(_times(A, new))
        whole = np.hstack(products)
        rotation = np.linalg.eigh(whole.T @ whole)[1][:, ::-1][:, : count + _MORE]
        Q = np.hstack(basis) @ rotation
        U, s, Vt = _within(A, Q, count)
        left = _times(A.T, U) - s * Vt.T
        if np.linalg.norm(left, axis=0).max() <= _ACCURACY * s[0] or not s[0]:
            break
        # Values that are almost equal have no vectors to settle on: what is explained settles first.
        before, energy = energy, float(s @ s)
        if energy <= (1 + _ENOUGH) * before:
            break
    return U, s, Vt


def _times(A: Any, X: Array) -> Array:
    return np.asarray(A @ X, dtype=float)


def _outside(basis: list[Array], X: Array) -> Array:
    """Return an orthonormal basis of the part of X outside the span of the blocks."""
    size = float(np.linalg.norm(X, axis=0).max(initial=0.0))
    for floor in (1e-7 * size, 0.5):  # the second time removes what rounding left
        for Q in basis:
            X = X - Q @ (Q.T @ X)
        # Eigenvectors of the small Gram matrix are far cheaper than a QR of long columns.
        squares, rotation = np.linalg.eigh(X.T @ X)
        kept = squares > max(floor**2, float(np.finfo(float).tiny))
        X = X @ (rotation[:, kept] / np.sqrt(squares[kept]))
    return X
