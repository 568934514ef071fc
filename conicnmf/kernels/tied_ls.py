"""Least squares over columns that a quadratic ties to their neighbors, within bounds.

Minimize Σ ½bₙᵀGₙbₙ − cₙᵀbₙ over the columns of B, plus ½xᵀKx for each row x, where K has few bands.
With the entries of B column after column, this is one quadratic whose matrix has as many bands as
columns that are tied have entries, so a Newton step costs O(n r³). Entries that the gradient presses
against a bound go along it, the others along Newton's direction, and all are cut off at the bounds;
along this path the cost falls (Bertsekas, Projected Newton methods for optimization problems with
simple constraints, 1982).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from conicnmf.types import Array, Mask

_MOST, _HALVINGS = 50, 30
_RIDGE = 1e-12
"""Of the diagonal, added in the search for a direction alone: matrices may be singular."""
_SETTLED = 1e-14
"""A fall below this part of the terms of the cost is rounding."""
_SUFFICIENT = 1e-4


def tied_ls(G: Array, C: Array, ties: Array, B0: Array, lower: Array, upper: Array) -> Array:
    """Return a minimizer of tied least squares within bounds, never worse than B0 inside of them.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        One matrix for all columns, or one for each.
    C : array of shape (r, n)
    ties : array of shape (bands, n)
        ties[d, i] is the entry (i + d, i) of K.
    B0 : array of shape (r, n)
        Where to begin.
    lower, upper : arrays that broadcast to (r, n)

    Examples
    --------
    >>> ties = np.array([[1.0, 1.0], [-1.0, 0.0]])
    >>> tied_ls(np.eye(1), np.array([[0.0, 3.0]]), ties, np.zeros((1, 2)), -np.inf, np.inf)
    array([[1., 2.]])
    """
    whole = _Tied(np.broadcast_to(G, (C.shape[1], *G.shape[-2:])).astype(float), C, ties)
    low, high = (np.broadcast_to(b, C.shape).T.astype(float) for b in (lower, upper))
    X = np.clip(B0.T.astype(float), low, high)
    product = whole.times(X)
    for _ in range(_MOST):
        slope = product - whole.C
        step = whole.direction(slope, _pressed(X, slope, whole.diagonal, low, high))
        X, product, settled = _along(whole, X, product, step, low, high)
        if settled:
            break
    return np.ascontiguousarray(X.T, dtype=C.dtype)


class _Tied:
    """The quadratic, with the columns of B as rows: entry j of column n is at place n·r + j."""

    def __init__(self, G: NDArray[np.float64], C: Array, ties: Array) -> None:
        self.G, self.ties = G, ties
        self.C = np.ascontiguousarray(C.T, dtype=float)
        n, r = self.C.shape
        reach = max(r - 1, (len(ties) - 1) * r)
        self._bands = np.zeros((reach + 1, n, r))
        for d in range(r):
            self._bands[d, :, : r - d] = np.diagonal(G, -d, 1, 2)
        for e, own in enumerate(ties):
            self._bands[e * r] += own[:, None]
        diagonal = self._bands[0]
        self.diagonal = np.where(diagonal > 0, diagonal, diagonal.max() or 1.0)

    def times(self, X: Array) -> Array:
        """Return the matrix times X."""
        found: Array = np.matmul(self.G, X[:, :, None])[:, :, 0]
        found += self.ties[0][:, None] * X
        for e in range(1, len(self.ties)):
            own = self.ties[e][:-e, None]
            found[e:] += own * X[:-e]
            found[:-e] += own * X[e:]
        return found

    def direction(self, slope: Array, pressed: Mask) -> Array:
        """Return Newton's direction among the entries that are not pressed, and theirs alone."""
        free = ~pressed.ravel()
        roots = np.sqrt(self.diagonal).ravel()
        bands = self._bands.reshape(len(self._bands), -1).copy()
        for d in range(1, len(bands)):  # entries of one length, so that all count alike in rounding
            bands[d, :-d] *= (free[:-d] & free[d:]) / (roots[:-d] * roots[d:])
        bands[0] = 1 + _RIDGE
        target = np.where(free, -slope.ravel() / roots, 0.0)
        found = _solved(bands, target) / roots
        return np.where(pressed, -slope / self.diagonal, found.reshape(slope.shape))


def _solved(bands: Array, target: Array) -> Array:
    """Solve a positive semi-definite system, with more on its diagonal where rounding asks for it."""
    while True:
        try:
            factor = cholesky_banded(bands, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            bands[0] += 1e3 * (bands[0] - 1) + 1e-12
            continue
        return np.asarray(cho_solve_banded((factor, True), target, check_finite=False))


def _pressed(X: Array, slope: Array, diagonal: Array, low: Array, high: Array) -> Mask:
    """Return the entries whose own step would end at the bound that the cost falls towards."""
    own = slope / diagonal
    return ((slope > 0) & (X - own <= low)) | ((slope < 0) & (X - own >= high))


def _along(
    whole: _Tied, X: Array, product: Array, step: Array, low: Array, high: Array
) -> tuple[Array, Array, bool]:
    """Return the first point of ever shorter steps where the cost falls enough, and whether it ends."""
    length = 1.0
    for _ in range(_HALVINGS):
        new = np.clip(X + length * step, low, high)
        moved = new - X
        change = whole.times(moved)
        slope = float(np.vdot(product - whole.C, moved))
        rise = slope + 0.5 * float(np.vdot(change, moved))
        if rise <= _SUFFICIENT * slope and rise <= 0:
            terms = abs(float(np.vdot(whole.C, new))) + float(np.vdot(change + product, new))
            return new, product + change, -rise <= _SETTLED * terms
        length *= 0.5
    return X, product, True
