"""Projections of rows whose entries are in several places, from sums over the places alone.

Bands of sparseness, spheres, balls and simplexes cut all entries of a row at one level. The level is
found as in `direction` and `simplex`: on a superset of the support it is never too low, so each round
drops what lies deeper. A round asks for a few sums of each row, and entries never leave their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from conicnmf.geometry.direction import SLACK
from conicnmf.types import Array, Mask

Ask: TypeAlias = Callable[[Callable[[int, Array], Any], Callable[[Any, Any], Any]], Any]
"""ask(work, combine) applies work(k, part) to every part of the rows, and combines what it returns."""


@dataclass(frozen=True, eq=False)
class Ties:
    """What the first of equal largest entries become, the first of all and the next ones."""

    before: tuple[int, ...]
    """How many of them there are before each place."""
    used: int
    first: float
    others: float

    def filled(self, k: int, row: Array, top: float) -> Array:
        """Return the part of a row at place k."""
        found = np.flatnonzero(row == top)[: max(0, self.used - self.before[k])]
        out = np.zeros(row.shape)
        out[found] = self.others
        if self.before[k] == 0 and found.size:
            out[found[0]] = self.first
        return out


@dataclass(frozen=True, eq=False)
class Cut:
    """What an entry a of each row becomes: factor · (μ − (top − a) + correction)₊ where top − a < μ.

    Rows that are even have the factor in each entry.
    """

    top: Array
    mu: Array
    correction: Array
    factor: Array
    even: Mask
    ties: dict[int, Ties] = field(default_factory=dict)

    def __call__(self, k: int, rows: Array) -> Array:
        """Return what the part of the rows at place k becomes."""
        top, mu, more, factor = (
            X[:, None] for X in (self.top, self.mu, self.correction, self.factor)
        )
        above = mu - (top - rows.astype(np.float64, copy=False))
        out = np.where(above > 0, np.maximum(above + more, 0.0) * factor, 0.0)
        out[self.even] = factor[self.even]
        for j, ties in self.ties.items():
            out[j] = self.factor[j] * ties.filled(k, rows[j], self.top[j])
        return out.astype(rows.dtype, copy=False)

    def times(self, factor: Array) -> Cut:
        """Return the cut with each row multiplied."""
        return replace(self, factor=self.factor * factor)


@dataclass(eq=False)
class LongRows:
    """Some rows of n entries, of which `ask` brings sums.

    Examples
    --------
    >>> row = np.array([[3.0, 1.0, 2.0]])
    >>> rows = LongRows(lambda work, combine: combine(work(0, row[:, :2]), work(1, row[:, 2:])), 3)
    >>> cut, products = rows.directions(1.0, 1.2)
    >>> u = np.hstack([cut(0, row[:, :2]), cut(1, row[:, 2:])])
    >>> u.round(3), u.sum().round(3), float((u * row).sum() - products[0]) < 1e-12
    (array([[0.974, 0.   , 0.226]]), np.float64(1.2), True)
    """

    ask: Ask
    size: int

    @cached_property
    def _surveyed(self) -> tuple[Array, Array]:
        found: tuple[Array, Array] = self.ask(_survey, _survey_both)
        return found

    @property
    def low(self) -> Array:
        """The smallest entry of each row."""
        return np.asarray(-self._surveyed[0][1])

    @property
    def top(self) -> Array:
        """The largest entry of each row."""
        return np.asarray(self._surveyed[0][0])

    @property
    def totals(self) -> Array:
        """The sum of each row."""
        return np.asarray(self._surveyed[1][3])

    @property
    def lengths(self) -> Array:
        """The norm of each row."""
        return np.asarray(np.sqrt(self._surveyed[1][4]))

    def sparseness(self) -> Array:
        """Return the Hoyer sparseness of rows that are not negative; zero rows have none (nan)."""
        root, lengths = math.sqrt(self.size), self.lengths
        alive = lengths > 0
        ratio = np.divide(self.totals, lengths, out=np.full(len(lengths), np.nan), where=alive)
        return np.asarray(np.clip((root - ratio) / (root - 1), 0.0, 1.0))

    def directions(self, c_min: Any, c_max: Any) -> tuple[Cut, Array]:
        """Return the best unit vectors u ≥ 0 with c_min ≤ ‖u‖₁ ≤ c_max, and ⟨row, u⟩."""
        positive, total, squares, all_total, all_squares = self._surveyed[1]
        top, norm = self.top, np.sqrt(squares)
        c_min, c_max = (np.broadcast_to(np.asarray(c, float), top.shape) for c in (c_min, c_max))
        inside = (top > 0) & (c_min * norm <= total) & (total <= c_max * norm)
        sparser = (top > 0) & (total > c_max * norm)
        c = np.where(sparser, c_max, c_min)
        cut = _positive(top, np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0))
        products = norm.copy()
        if inside.all():
            return cut, products
        even = ~inside & (c >= math.sqrt(self.size))
        mu = np.where(sparser, top, np.inf)
        seen = positive, total, squares
        whole = np.full(len(top), float(self.size)), all_total, all_squares
        sums = [np.where(sparser, own, every) for own, every in zip(seen, whole, strict=True)]
        mu = np.where(top > 0, np.minimum(mu, _first_level(top, sums, c)), np.inf)
        open_ = ~inside & ~even
        mu, count = self._narrowed(np.where(open_ & (c > 1), mu, 0.0), c)
        tied = open_ & (mu == 0)
        found, own = self._filled(np.where(open_, mu, 0.0), c)
        cut = _chosen(open_, found, cut)
        products = np.where(open_, own, products)
        cut = replace(cut, ties=self._ties(tied, count, c), even=even)
        root = math.sqrt(self.size)
        factor = np.where(tied, 1.0, np.where(even, 1 / root, cut.factor))
        products = np.where(tied, top * np.maximum(c, 1.0), products)
        return replace(cut, factor=factor), np.where(even, all_total / root, products)

    def simplex(self, total: float) -> Cut:
        """Return the nearest points with entries ≥ 0 that sum to a total."""
        top = self.top
        mu = np.full(len(top), total)
        while True:
            count, depth, _, deepest = self._below(mu)
            new = (total + depth) / count
            if not (deepest >= new).any():
                break
            mu = np.where(deepest >= new, new, mu)
        mu = new
        weight = self.ask(partial(_weights, self.top, mu), _added)[1]
        zero = np.zeros(len(top))
        return Cut(top, mu, zero, total / weight, zero.astype(bool))

    def _below(self, mu: Array) -> tuple[Array, Array, Array, Array]:
        """Return number, sum, squares and largest of the depths below μ."""
        sums, deepest = self.ask(partial(_depths, self.top, mu), _depths_both)
        return *sums, deepest

    def _narrowed(self, mu: Array, c: Array) -> tuple[Array, Array]:
        """Shrink {depth < μ} to the support; μ = 0 says that only ties are left."""
        open_ = mu > 0
        out, number = np.zeros(len(mu)), np.ones(len(mu))
        if not open_.any():
            return out, number
        count, total, squares, deepest = self._below(mu)
        while True:
            tied = open_ & (deepest == 0)
            number = np.where(tied, count, number)
            open_ = open_ & ~tied
            mean = total / np.maximum(count, 1)
            new = mean + _shift(count, squares - total * mean, c)
            settled = open_ & ~(deepest >= new * SLACK)
            out = np.where(settled, new, out)
            open_ = open_ & ~settled
            if not open_.any():
                return out, number
            count, total, squares, deepest = self._below(np.where(open_, new * SLACK, 0.0))

    def _filled(self, mu: Array, c: Array) -> tuple[Cut, Array]:
        """Return u ∝ (μ − depth)₊ and ⟨row, u⟩; one more step on the weights removes rounding."""
        m, total, squares, dot, entries = self.ask(partial(_weights, self.top, mu), _added)
        mean = total / np.maximum(m, 1)
        spread = squares - total * mean
        fine = (m > c * c) & (spread > 0)
        tau = np.where(fine, _shift(m, spread, c), mean)
        norm = np.sqrt(np.where(fine, m * tau * tau + spread, squares))
        factor = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        cut = Cut(self.top, mu, tau - mean, factor, np.zeros(len(mu), dtype=bool))
        return cut, (dot + (tau - mean) * entries) * factor

    def _ties(self, tied: Mask, count: Array, c: Array) -> dict[int, Ties]:
        """Spread norm 1 and sum c over the first tied maxima, as few as can hold it."""
        if not tied.any():
            return {}
        found = np.array(self.ask(partial(_equal, self.top), lambda one, other: one + other))
        before = np.vstack([np.zeros(len(tied), dtype=int), np.cumsum(found, axis=0)[:-1]])
        out = {}
        for j in np.flatnonzero(tied):
            ratio = max(float(c[j]), 1.0)
            used = max(1, int(min(count[j], math.ceil(ratio**2))))
            even = ratio / used
            step = math.sqrt(max(1 - ratio * even, 0.0) / (used * (used - 1))) if used > 1 else 0.0
            values = even + (used - 1) * step, max(even - step, 0.0)
            out[int(j)] = Ties(tuple(map(int, before[:, j])), used, *values)
        return out


def _positive(top: Array, factor: Array) -> Cut:
    """Return the cut that keeps what is positive."""
    zero = np.zeros(len(top))
    # Not from the top: entries stay what they are, without rounding.
    return Cut(zero, zero, zero, factor, zero.astype(bool))


def _chosen(where: Mask, cut: Cut, other: Cut) -> Cut:
    names = "top", "mu", "correction", "factor", "even"
    return Cut(*(np.where(where, getattr(cut, own), getattr(other, own)) for own in names))


def _shift(m: Array, spread: Array, c: Array) -> Array:
    """Return τ with mτ = c√(mτ² + spread), for all rows."""
    gap = np.maximum(m - c * c, 1e-15 * np.maximum(m, 1))
    return np.asarray(c * np.sqrt(np.maximum(spread, 0.0) / (np.maximum(m, 1) * gap)))


def _first_level(top: Array, sums: Sequence[Array], c: Array) -> Array:
    """Return a safe upper bound of μ from sums of entries instead of depths, or infinity."""
    count, total, squares = sums
    mean = total / np.maximum(count, 1)
    spread = squares - total * mean
    level = (top - mean + _shift(count, spread, c)) * (1 + 1e-6)
    return np.where(spread > 1e-3 * squares, level, np.inf)


def _survey(k: int, rows: Array) -> tuple[Array, Array]:
    wide = rows.astype(np.float64, copy=False)
    above = np.maximum(wide, 0.0)
    sums = (wide > 0).sum(axis=1), above.sum(axis=1), np.einsum("ij,ij->i", above, above)
    squares = np.einsum("ij,ij->i", wide, wide)
    ends = np.stack([wide.max(axis=1), -wide.min(axis=1)])
    return ends, np.stack([*sums, wide.sum(axis=1), squares]).astype(np.float64)


def _survey_both(one: Any, other: Any) -> Any:
    return np.maximum(one[0], other[0]), one[1] + other[1]


def _depths(top: Array, mu: Array, k: int, rows: Array) -> tuple[Array, Array]:
    depths = top[:, None] - rows.astype(np.float64, copy=False)
    kept = depths < mu[:, None]
    depths = np.where(kept, depths, 0.0)
    sums = kept.sum(axis=1), depths.sum(axis=1), np.einsum("ij,ij->i", depths, depths)
    return np.stack(sums).astype(np.float64), depths.max(axis=1)


def _depths_both(one: Any, other: Any) -> Any:
    return one[0] + other[0], np.maximum(one[1], other[1])


def _weights(top: Array, mu: Array, k: int, rows: Array) -> Array:
    wide = rows.astype(np.float64, copy=False)
    w = np.maximum(mu[:, None] - (top[:, None] - wide), 0.0)
    sums = (w > 0).sum(axis=1), w.sum(axis=1), np.einsum("ij,ij->i", w, w)
    more = np.einsum("ij,ij->i", w, wide), np.where(w > 0, wide, 0.0).sum(axis=1)
    return np.stack([*sums, *more]).astype(np.float64)


def _added(one: Array, other: Array) -> Array:
    return one + other


def _equal(top: Array, k: int, rows: Array) -> list[list[int]]:
    return [(rows == top[:, None]).sum(axis=1).tolist()]
