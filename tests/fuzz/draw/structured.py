"""Constraints on the structure of a factor; those that shape the point bring it there."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..judge.measures import parts
from .terms import Drawn, draw_each


def _put(side, each, rows):
    side.point = np.ascontiguousarray(parts(rows, side.columns, each))


def _part_of(X, amount):
    return float(amount / (np.abs(X).max() or 1.0))


def monotone(rng, side):
    """Entries rise, or fall, along each piece."""
    each, up = draw_each(rng, side), bool(rng.integers(2))
    sign = 1 if up else -1
    axis = side.axis(each)
    _put(side, each, sign * np.sort(sign * side.rows(each), axis=1))
    return Drawn(
        f"Monotone({up}, {each})",
        lambda: cn.Monotone(up, each=each),
        (lambda X: sign * cp.diff(X, axis=axis) >= 0) if side.rows(each).shape[1] > 1 else None,
        lambda X: _part_of(X, (-sign * np.diff(X, axis=axis)).max(initial=0.0)),
    )


def unimodal(rng, side):
    """Entries rise to a peak and fall after it."""
    each = draw_each(rng, side)
    rows = np.sort(side.rows(each), axis=1)
    _put(side, each, np.hstack([rows[:, ::2], rows[:, 1::2][:, ::-1]]))

    def violation(X):
        worst = 0.0
        for row in parts(X, side.columns, each):
            steps = np.diff(row)
            falls = [
                max((-steps[:peak]).max(initial=0.0), steps[peak:].max(initial=0.0))
                for peak in range(len(row))
            ]
            worst = max(worst, min(falls))
        return _part_of(X, worst)

    return Drawn(f"Unimodal({each})", lambda: cn.Unimodal(each=each), violation=violation)


def cardinality(rng, side):
    """At most k entries of a piece are not zero."""
    each = draw_each(rng, side)
    rows = side.rows(each).copy()
    k = int(rng.integers(1, rows.shape[1] + 1))
    order = np.argsort(-np.abs(rows), axis=1)
    np.put_along_axis(rows, order[:, k:], 0.0, axis=1)
    _put(side, each, rows)

    def violation(X):
        sizes = np.sort(np.abs(parts(X, side.columns, each)), axis=1)[:, ::-1]
        return _part_of(X, sizes[:, k:].max(initial=0.0))

    return Drawn(f"Cardinality({k}, {each})", lambda: cn.Cardinality(k, each=each), None, violation)


def orthogonal(rng, side):
    """Components are non-negative and share no entry."""
    rows = np.abs(side.rows("component"))
    owner = rng.integers(0, len(rows), rows.shape[1])
    owner[: len(rows)] = np.arange(len(rows))[: rows.shape[1]]  # everybody owns something
    _put(side, "component", np.where(owner == np.arange(len(rows))[:, None], rows, 0.0))

    def violation(X):
        rows = parts(X, side.columns, "component")
        shared = np.sort(np.abs(rows), axis=0)[:-1].max(initial=0.0)
        return _part_of(X, max(shared, -rows.min()))

    return Drawn("Orthogonal()", cn.Orthogonal, None, violation)


def factor_sum(rng, side):
    """All entries sum to at most a total, or exactly to that of the point."""
    equal = bool(rng.random() < 0.3)
    own = float(side.point.sum())
    total = own if equal else side.bound(rng, max(own, 0.0))
    unit = abs(total) or side.unit
    return Drawn(
        f"FactorSum({total:.4g}{', equal' if equal else ''})",
        lambda: cn.FactorSum(total, equal=equal),
        lambda X: cp.sum(X) == total if equal else cp.sum(X) <= total,
        lambda X: float(abs(X.sum() - total) if equal else X.sum() - total) / unit,
    )


def factor_norm(rng, side):
    radius = side.bound(rng, np.linalg.norm(side.point))
    return Drawn(
        f"FactorNorm({radius:.4g})",
        lambda: cn.FactorNorm(radius),
        lambda X: cp.norm(X, "fro") <= radius,
        lambda X: float(np.linalg.norm(X) / radius - 1),
    )
