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
        np.where(np.isnan(s), float(low > 0), np.maximum(low - s, s - high)).max(initial=0.0)
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


def huber(V, X, edge=1.0):
    """Return Σ of Huber's function, as CVXPY scales it: a square up to the edge, then linear."""
    size = np.abs(V - X)
    return float(np.where(size <= edge, size**2, 2 * edge * size - edge**2).sum())


def magnitudes(V, X):
    """Return Σ|V − X|."""
    return float(np.abs(V - X).sum())
