"""The mathematics once more, in plain NumPy: nothing here comes from the package."""

from __future__ import annotations

import numpy as np


def parts(X, columns, each):
    """Return the pieces a term speaks of as rows: components, which may be columns, or samples."""
    return X.T if columns == (each == "component") else X


def sparseness(rows):
    """Return Hoyer's sparseness of each row, nan for a zero row; rows have two entries or more."""
    rows = np.asarray(rows, dtype=np.float64)
    size = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(size > 0, size, 1.0)
    root = np.sqrt(rows.shape[1])
    long = np.sqrt((rows**2).sum(axis=1))
    ratio = np.abs(rows).sum(axis=1) / np.where(long > 0, long, 1.0)
    return np.where(long > 0, (root - ratio) / (root - 1), np.nan)


def outside_band(rows, low, high):
    """Return how far the worst row's sparseness is from the band; 1 for zero and a lower bound."""
    if rows.shape[1] == 1:
        return 0.0
    s = sparseness(rows)
    return float(
        np.where(np.isnan(s), np.asarray(low) > 0, np.maximum(low - s, s - high)).max(initial=0.0)
    )


def outside_bounds(X, lower, upper):
    """Return the largest excess over bounds, relative to the bounds or, without any, to X."""
    lower, upper = (np.broadcast_to(np.asarray(b, float), X.shape) for b in (lower, upper))
    sizes = [np.abs(b[np.isfinite(b)]).max(initial=0.0) for b in (lower, upper)]
    size = max(sizes) or np.abs(X).max(initial=0.0) or 1.0
    return float(np.maximum(lower - X, X - upper).max(initial=0.0) / size)


def outside_simplex(rows, total):
    """Return the largest error of a sum or negative entry, relative to the total."""
    gap = np.abs(rows.sum(axis=1) - total).max()
    return float(max(gap, -rows.min()) / total)


def outside_labels(H, y, radius):
    """Return the largest excess of ‖μ − h‖ over radius · Σμ, relative to Σμ."""
    worst = 0.0
    for label in np.unique(y[y >= 0]):
        own = H[:, y == label]
        mean = own.mean(axis=1, keepdims=True)
        total = float(mean.sum())
        excess = np.sqrt(((own - mean) ** 2).sum(axis=0)).max() - radius * total
        worst = max(worst, float(excess) / (total if total > 0 else 1.0))
    return worst


def squares(V, X, weights=None):
    """Return ‖M ∘ (V − X)‖²."""
    residual = V - X
    return float(((residual if weights is None else weights * residual) ** 2).sum())


def huber_entries(V, X, edge):
    """Return Huber's function of each residual: a square up to the edge, then linear."""
    size = np.abs(V - X)
    return np.where(size <= edge, size**2, 2 * edge * size - edge**2)


def huber(V, X, edge=1.0):
    """Return Σ of Huber's function, as CVXPY scales it."""
    return float(huber_entries(V, X, edge).sum())


def divergence(V, X, beta):
    """Return the β-divergence of each entry, infinite where the model is out of its domain."""
    y, p = np.broadcast_arrays(V, X)
    inside = (p > 0) & (y > 0)
    y, q = np.where(inside, y, 1.0), np.where(inside, p, 1.0)
    if beta == 1:
        found = y * np.log(y / q) - y + q
    elif beta == 0:
        found = y / q - np.log(y / q) - 1
    else:
        found = (y**beta + (beta - 1) * q**beta - beta * y * q ** (beta - 1)) / (beta * (beta - 1))
    # At a y of zero only the model's own power is left, at a p of zero only the data's.
    zero = np.maximum(p, 0.0) ** beta / (beta if beta else 1.0)
    gone = np.inf if beta <= 1 else V**beta / (beta * (beta - 1))
    outside = np.where(V == 0, zero, gone)
    return np.where(inside, found, np.where(p < 0, np.inf, outside))


def magnitudes(V, X):
    """Return Σ|V − X|."""
    return float(np.abs(V - X).sum())
