"""Rows that change their column: what brings orthonormal columns W ≥ 0 out of poor parts.

Columns that share no row are a choice of rows for each. Steps on W cannot pass from one choice to
another at a price; giving one row to another column, and letting the columns concerned find their
best entries again, can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conicnmf.families.one_factor.view import OneFactor
from conicnmf.types import Array, Mask

_STEPS = 20
"""Power steps of a column after a row has come or gone."""
_TRIALS = 20
"""Exchanges tried at once."""
_PRODUCTS, _WORK = 1000, 2e8
"""Products of A with a column, for each column of W, after which a search ends, and their sizes."""
_GAIN = 1e-6
_UNITS = 10
_FEW = 64
"""Rows of A up to which columns are settled by eigenvectors."""


@dataclass(frozen=True, eq=False)
class Exchange:
    """A feasible W and its gain ½tr(WᵀAW), exchanges tried since it last rose, and products made."""

    W: Array
    gain: float
    tried: int = 0
    products: int = 0

    @classmethod
    def at(cls, view: OneFactor, W: Array) -> Exchange:
        """Begin at W."""
        return cls(W, _gain(view, W))

    @property
    def ended(self) -> bool:
        """Whether no exchange is left to try, or no product."""
        rows, columns = self.W.shape
        most = min(_PRODUCTS, _WORK / rows**2) * columns
        return self.tried >= self.W.size or self.products >= most

    def onward(self, view: OneFactor) -> Exchange:
        """Try some more, those first in which the gain rises fastest; return where one pays."""
        pull = view.operator(self.W) @ self.W
        products = self.products
        order = np.argsort(-pull, axis=None, kind="stable")[self.tried : self.tried + _TRIALS]
        for place in order:
            i, j = divmod(int(place), self.W.shape[1])
            W, made = _given(view, self.W, i, j)
            products += made
            gain = -np.inf if W is None else _gain(view, W)
            if W is not None and gain > self.gain + _GAIN * abs(self.gain):
                return Exchange(W, gain, 0, products)
        return replace(self, tried=self.tried + len(order), products=products)


def best_column(view: OneFactor, w: Array) -> Array:
    """Return the best column that exchanges lead to, from w and from unit vectors.

    The best two of all go on.
    """
    every = np.ones(view.size, dtype=bool)
    columns = [w, *(x[:, None] for x in _from_units(view, every, w.dtype))]
    found = []
    for exchange in sorted((Exchange.at(view, X) for X in columns), key=lambda e: -e.gain)[:2]:
        now = exchange
        while not now.ended:
            now = now.onward(view)
        found.append(now)
    return max(found, key=lambda e: e.gain).W


def one_by_one(view: OneFactor, W: Array) -> Array:
    """Return columns each of which is the best on the rows that are left, as far as steps tell.

    Where too few rows are left for the others, it gives up those of its smallest entries.
    """
    found = np.zeros_like(W)
    for j in range(view.rank):
        free = np.asarray(~found.any(axis=1))
        tried = [x[:, None] for x in _from_units(view, free, W.dtype)]
        found[:, j] = max(tried, key=lambda x: _gain(view, x))[:, 0]
        missing = view.rank - 1 - j - int(np.sum(free & ~(found[:, j] > 0)))
        if missing > 0:
            rows = np.flatnonzero(found[:, j])
            found[rows[np.argsort(found[rows, j])[:missing]], j] = 0.0
            found[:, j] /= np.linalg.norm(found[:, j])
    return found


def _from_units(view: OneFactor, free: Mask, kind: np.dtype[Any]) -> list[Array]:
    """Return columns that steps lead to from unit vectors, of the largest entries on A's diagonal."""
    assert view.fixed is not None
    tried = max(1, min(_UNITS, int(_WORK / view.size**2 / _STEPS)))
    diagonal = np.where(free, view.fixed.diagonal(), -np.inf)
    chosen = np.argsort(-diagonal, kind="stable")[: min(tried, int(free.sum()))]
    return [_ascended(view, w, free) for w in np.eye(view.size, dtype=kind)[chosen]]


def _gain(view: OneFactor, W: Array) -> float:
    return -float(view.term.value(np.ascontiguousarray(W.T)))


def _given(view: OneFactor, W: Array, i: int, j: int) -> tuple[Array | None, int]:
    """Return W with row i in column j, nothing where a column would be left empty; and products."""
    owners = np.flatnonzero(W[i])
    changed = W.copy()
    changed[i] = 0.0
    changed[i, j] = 1.0  # as much as all the rest of the column
    if not changed.any(axis=0).all():
        return None, 0
    columns = [j, *(int(k) for k in owners if k != j)]
    for k in columns:
        free = np.asarray(~np.delete(changed, k, axis=1).any(axis=1))
        changed[:, k] = _ascended(view, changed[:, k], free)
    return changed, _STEPS * len(columns)


def _ascended(view: OneFactor, w: Array, free: Mask) -> Array:
    """Return a column after power steps on A + cI, clipped at zero, on the rows it may use.

    Where A has few rows, it is the leading eigenvector of A on the rows that the column keeps.
    """
    A, shift = view.operator(w[:, None]), view.shift or 0.0
    block = (A @ np.eye(view.size, dtype=w.dtype)) if view.size <= _FEW else None
    w = w / np.linalg.norm(w)
    for _ in range(_STEPS):
        up = np.where(free, np.maximum((A @ w[:, None])[:, 0] + shift * w, 0.0), 0.0)
        size = float(np.linalg.norm(up))
        if not size > 0:
            break
        w, before = up / size, w
        if block is not None:
            w = _settled(block, w)
        if np.abs(w - before).max() < _GAIN:
            break
    return np.asarray(w)


def _settled(A: Array, w: Array) -> Array:
    """Return the leading eigenvector of A on rows of w, without those that would become negative.

    On the way from w to it wᵀAw rises all along, so that the way may end where an entry is zero.
    """
    while True:
        rows = np.flatnonzero(w)
        x, v = w[rows], np.linalg.eigh(A[np.ix_(rows, rows)])[1][:, -1]
        v = v if v @ x >= 0 else -v
        down = v < 0
        if not down.any():
            x = v
        else:
            shares = x[down] / (x[down] - v[down])
            x = np.where(
                down, np.maximum(x + shares.min() * (v - x), 0.0), x + shares.min() * (v - x)
            )
            x[np.flatnonzero(down)[shares.argmin()]] = 0.0
        w = np.zeros_like(w)
        w[rows] = x / np.linalg.norm(x)
        if not down.any():
            return w
