"""Published methods in plain NumPy, as rivals: each written for speed within NumPy's means.

Objectives are ‖V − W H‖², computed through Gram matrices. The factorizations are generators that
yield the factors and the objective after each iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from conicnmf.types import Array

Iterate = tuple[Array, Array, float]
_TINY = 1e-9


def hoyer_vector(x: Any, l1: float, l2: float) -> Any:
    """Return the nearest s ≥ 0 with both norms given, by Hoyer's (2004) iteration."""
    s = x + (l1 - x.sum()) / x.size
    free = np.ones(x.size, dtype=bool)
    for _ in range(x.size):
        middle = np.where(free, l1 / free.sum(), 0.0)
        s = middle + _stretch(s, middle, l2, np.sum) * (s - middle)
        if (s >= 0).all():
            break
        free = s > 0
        s = np.where(free, s, 0.0)
        s = np.where(free, s + (l1 - s.sum()) / free.sum(), 0.0)
    return s


def hoyer_rows(X: Array, l1: Any, l2: Any) -> Array:
    """Return the same for every row, all rows at once; finished rows leave the iteration."""
    out = np.empty_like(X)
    rows = np.arange(len(X))
    l1, l2 = l1[:, None], l2[:, None]
    S = X + (l1 - X.sum(axis=1, keepdims=True)) / X.shape[1]
    free = np.ones(X.shape, dtype=bool)
    while rows.size:
        middle = np.where(free, l1 / free.sum(axis=1, keepdims=True), 0.0)
        S = middle + _stretch(S, middle, l2, _row_sums) * (S - middle)
        done = (S >= 0).all(axis=1)
        out[rows[done]] = S[done]
        rows, S, l1, l2 = rows[~done], S[~done], l1[~done], l2[~done]
        free = S > 0
        S = np.where(free, S, 0.0)
        lift = (l1 - S.sum(axis=1, keepdims=True)) / np.maximum(1, _row_sums(free))
        S = np.where(free, S + lift, 0.0)
    return out


def _row_sums(X: Any) -> Any:
    return X.sum(axis=1, keepdims=True)


def _stretch(s: Any, middle: Any, l2: Any, total: Callable[[Any], Any]) -> Any:
    """Return α ≥ 0 with ‖middle + α(s − middle)‖ = l2."""
    way = s - middle
    a, b, c = total(way * way), total(middle * way), total(middle * middle) - l2**2
    return (-b + np.sqrt(np.maximum(b * b - a * c, 0.0))) / np.where(a == 0, 1.0, a)


def sparse_direction(b: Array, l1: float) -> Array:
    """Return the unit w ≥ 0 of sum l1 that maximizes ⟨b, w⟩ (sparse-opt, Potluru et al. 2013)."""
    order = np.argsort(-b)
    ranked = b[order]
    sizes = np.arange(1, b.size + 1)
    means = np.cumsum(ranked) / sizes
    spreads = np.maximum(np.cumsum(ranked**2) - sizes * means**2, np.finfo(float).tiny)
    # On the p largest entries w = l1/p + scale (b − mean); the last must not be negative.
    scales = np.sqrt(np.maximum(1 - l1**2 / sizes, 0.0) / spreads)
    lasts = l1 / sizes + scales * (ranked - means)
    fits = np.flatnonzero((sizes >= l1**2) & (lasts >= 0))
    p = fits[-1] if fits.size else min(b.size, int(np.ceil(l1**2))) - 1
    w = np.zeros_like(b)
    w[order[: p + 1]] = np.maximum(l1 / (p + 1) + scales[p] * (ranked[: p + 1] - means[p]), 0.0)
    return w / np.linalg.norm(w)


def nmfsc(V: Array, W: Array, H: Array, s: float) -> Iterator[Iterate]:
    """Hoyer's NMFSC: W of sparseness s by projected gradient, H multiplicatively."""
    l1 = np.sqrt(len(V)) - (np.sqrt(len(V)) - 1) * s
    square, step = float(np.vdot(V, V)), 1.0
    H = H / np.linalg.norm(H, axis=1, keepdims=True)
    W = hoyer_rows(np.ascontiguousarray(W.T), np.full(W.shape[1], l1), np.ones(W.shape[1])).T
    while True:
        H = H * (W.T @ V) / (W.T @ W @ H + _TINY)
        norms = np.maximum(np.linalg.norm(H, axis=1), _TINY)
        H, W = H / norms[:, None], W * norms
        G, C = H @ H.T, V @ H.T
        value, slope = _objective(square, W, G, C), W @ G - C
        reached = np.inf
        while not reached <= value:
            if step < 1e-200:
                return
            new = np.ascontiguousarray((W - step * slope).T)
            lengths = np.linalg.norm(new, axis=1)
            near = hoyer_rows(new, l1 * lengths, lengths).T
            reached = _objective(square, near, G, C)
            step /= 2
        W, step = near, 2.4 * step
        yield W, H, reached


def block_coordinate(V: Array, W: Array, H: Array, s: float) -> Iterator[Iterate]:
    """Block-coordinate descent (Potluru et al. 2013): exact sparse columns of W, then rows of H."""
    l1 = np.sqrt(len(V)) - (np.sqrt(len(V)) - 1) * s
    square, rank = float(np.vdot(V, V)), W.shape[1]
    norms = np.linalg.norm(W, axis=0)
    W, H = W / norms, H * norms[:, None]
    while True:
        G, C = H @ H.T, V @ H.T
        for j in range(rank):
            W[:, j] = sparse_direction(C[:, j] - W @ G[:, j] + G[j, j] * W[:, j], l1)
        G, C = W.T @ W, W.T @ V
        for j in range(rank):
            H[j] = np.maximum(H[j] + (C[j] - G[j] @ H) / G[j, j], 0.0)
        yield W, H, _objective(square, H.T, G, C.T)


def _objective(square: float, B: Array, G: Array, C: Array) -> float:
    return square - 2 * float(np.vdot(B, C)) + float(np.vdot(B @ G, B))


def nnls_columns(A: Array, Y: Array) -> Array:
    """Solve non-negative least squares column by column with SciPy."""
    return np.stack([nnls(A, y)[0] for y in Y.T], axis=1)


def l0_round(V: Array, W: Array, lam: float) -> tuple[Array, Array]:
    """One round of l0-sparse NMF (O'Hanlon and Plumbley 2013), with a new inverse at each drop."""
    H = nnls_columns(W, V)
    for y, h in zip(V.T, H.T, strict=True):
        kept = _eliminate(W, y, np.flatnonzero(h), lam)
        h[:] = 0.0
        if kept.size:
            h[kept] = nnls(W[:, kept], y)[0]
    W = nnls_columns(H.T, V.T).T
    return W / np.maximum(np.linalg.norm(W, axis=0), _TINY), H


def _eliminate(W: Array, y: Array, kept: NDArray[np.intp], lam: float) -> NDArray[np.intp]:
    """Drop the cheapest atom while that raises the residual's norm by less than lam."""
    while kept.size:
        atoms = W[:, kept]
        inverse = np.linalg.inv(atoms.T @ atoms)
        x = inverse @ (atoms.T @ y)
        rest = float(np.sum((y - atoms @ x) ** 2))
        prices = x**2 / np.diag(inverse)
        k = int(np.argmin(prices))
        if np.sqrt(rest + prices[k]) - np.sqrt(rest) >= lam:
            break
        kept = np.delete(kept, k)
    return kept
