"""What coders promise of their codes: a lowest cost, a cost no worse than before, a count."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import nnls


def excess(coder, settings, X, W, H):
    """Return by how much each sample's cost is above what the coder promises of it."""
    name = coder.split("(")[0]
    best = np.array([nnls(W, x)[0] for x in X.T]).T
    left, least = _left(X, W, H), _left(X, W, best)
    if name in ("None", "LeastSquares"):
        return left - least
    if name == "Lasso":
        return _lasso_gap(X, W, H, settings["w"])
    if name == "SquaredLasso":
        return _squared_lasso(X, W, H, settings["w2"])
    if name == "L0" and "groups" not in coder:
        costs = (_l0(own, codes, settings["t"], coder) for own, codes in ((left, H), (least, best)))
        return next(costs) - next(costs)
    if name == "BranchAndBound":
        found = _l0(left, H, settings["t"], "squared")
        return found - (_l0_least if W.shape[1] <= 5 else _l0_of)(X, W, best, settings["t"])
    if name == "IterativeThreshold" and "soft" not in coder:
        return _l0(left, H, settings["t"], "squared") - _l0_of(X, W, best, settings["t"])
    if name == "IterativeThreshold":
        left = left + settings["w"] * H.sum(axis=0)
    if name == "ForwardBackward":
        left = left + settings["t"] ** 2 * (H > 0).sum(axis=0)
    # A pursuit ends no worse than it began, with nothing; codes that are cut may.
    return np.zeros(len(left)) if name in ("Threshold", "L0") else left - (X**2).sum(axis=0)


def _left(X, W, H):
    return ((X - W @ H) ** 2).sum(axis=0)


def _l0(left, H, t, coder):
    atoms = (H > 0).sum(axis=0)
    return left + t**2 * atoms if "squared" in coder else np.sqrt(left) + t * atoms


def _lasso_gap(X, W, H, w):
    """Return a bound on what can still be gained: Σ|h · slope|, and slopes that are negative."""
    slope = 2 * W.T @ (W @ H - X) + w
    room = H.max(initial=0.0) or np.abs(X).max()
    return np.abs(H * slope).sum(axis=0) + room * np.clip(-slope, 0, None).sum(axis=0)


def _squared_lasso(X, W, H, w):
    """Compare with least squares that have one more row of √w."""
    rows = np.vstack([W, np.full((1, W.shape[1]), np.sqrt(w))])
    Y = np.vstack([X, np.zeros((1, X.shape[1]))])
    best = np.array([nnls(rows, y)[0] for y in Y.T]).T
    return _left(Y, rows, H) - _left(Y, rows, best)


def _l0_of(X, W, H, t):
    return _l0(_left(X, W, H), H, t, "squared")


def _l0_least(X, W, best, t):
    """Return the lowest cost by trying every choice of atoms."""
    found = _l0_of(X, W, best, t)
    for choice in product((False, True), repeat=W.shape[1]):
        own = np.zeros((W.shape[1], X.shape[1]))
        if any(choice):
            own[np.array(choice)] = np.array([nnls(W[:, choice], x)[0] for x in X.T]).T
        found = np.minimum(found, _l0_of(X, W, own, t))
    return found
