"""Every constraint, drawn so that the side's point satisfies it, or in a wild case anyhow."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..judge import measures
from ..judge.measures import parts
from .numbers import short
from .terms import Drawn, draw_each


def nonnegative(rng, side):
    return Drawn(
        "NonNegative",
        cn.NonNegative,
        lambda X: X >= 0,
        lambda X: measures.outside_bounds(X, 0, np.inf),
    )


def box(rng, side):
    """Bounds on entries: two numbers, one number, or a matrix."""
    X = side.point
    high = side.bound(rng, np.abs(X).max())
    low = 0.0 if side.nonneg else -high
    kind = 0 if side.simple else rng.integers(3)
    if kind == 1:
        low = -np.inf
    elif kind == 2:
        high = np.where(rng.random(X.shape) < 0.5, high, np.maximum(X, 0) + 0.5 * side.unit)
    text = f"Box({low:.3g}, {'matrix' if kind == 2 else f'{high:.3g}'})"
    return Drawn(
        text,
        lambda: cn.Box(low, high),
        lambda X: [high >= X] + ([low <= X] if np.isfinite(low) else []),
        lambda X: measures.outside_bounds(X, low, high),
        inputs=(high,) if kind == 2 else (),
    )


def fixed(rng, side):
    """A few entries, or a whole component, are known."""
    mask = rng.random(side.shape) < 0.2
    if rng.random() < 0.3:
        mask = np.zeros(side.shape, dtype=bool)
        mask[(slice(None), 0) if side.columns else 0] = True
    values = np.where(mask, side.point, 0.0)
    if side.wild:
        values = values + np.where(mask, side.unit * rng.random(side.shape), 0.0)

    def violation(X):
        size = np.abs(values).max() or np.abs(X).max() or 1.0
        return float(np.abs(np.where(mask, X - values, 0.0)).max() / size)

    return Drawn(
        f"Fixed({mask.sum()} entries)",
        lambda: cn.Fixed(mask, values),
        (lambda X: X[mask] == values[mask]) if mask.any() else None,
        violation,
        inputs=(mask, values),
    )


def simplex(rng, side):
    """Pieces sum to a total; the point is brought there."""
    each = "sample" if not side.columns and rng.random() < 0.5 else draw_each(rng, side)
    total = short(side.unit * rng.uniform(0.5, 2))
    axis = side.axis(each)
    sums = side.point.sum(axis=axis, keepdims=True)
    side.point = side.point * (total / sums)
    return Drawn(
        f"Simplex({total:.3g}, {each})",
        lambda: cn.Simplex(total, each=each),
        lambda X: [X >= 0, cp.sum(X, axis=axis) == total],
        lambda X: measures.outside_simplex(parts(X, side.columns, each), total),
    )


def unit_norm(rng, side):
    """Pieces have norm one; the point is brought there."""
    each = draw_each(rng, side)
    axis = side.axis(each)
    side.point = side.point / np.linalg.norm(side.point, axis=axis, keepdims=True)
    side.unit = 1.0
    return Drawn(
        f"UnitNorm({each})",
        lambda: cn.UnitNorm(each=each),
        None,
        lambda X: float(np.abs(np.linalg.norm(X, axis=axis) - 1).max()),
    )


def norm_ball(rng, side):
    each = draw_each(rng, side)
    axis = side.axis(each)
    radius = side.bound(rng, np.linalg.norm(side.point, axis=axis).max())
    return Drawn(
        f"NormBall({radius:.4g}, {each})",
        lambda: cn.NormBall(radius, each=each),
        lambda X: cp.norm(X, 2, axis=axis) <= radius,
        lambda X: float(np.linalg.norm(X, axis=axis).max() / radius - 1),
    )


def prescribed(rng, side):
    """One sparseness for all components; the point gets components that are permutations."""
    profile = side.rows("component")[0]
    rows = np.array([rng.permutation(profile) for _ in side.rows("component")])
    side.point = rows.T.copy() if side.columns else rows
    s = 0.5 if rows.shape[1] == 1 else float(max(measures.sparseness(rows[:1])[0], 0.0))
    return _band(side, s, s, "component")


def sparse(rng, side):
    """A lower bound, an upper bound or both."""
    each = draw_each(rng, side)
    rows = side.rows(each)
    s = measures.sparseness(rows) if rows.shape[1] > 1 else np.array([0.5])
    if side.wild:
        low, high = np.sort(rng.random(2).round(2))
    elif np.isnan(s).any():
        low, high = 0.0, 1.0  # the point has a zero piece, which no band allows
    else:
        low = max(0.0, np.floor(100 * (s.min() - 0.3 * rng.random())) / 100)
        high = min(1.0, np.ceil(100 * (s.max() + 0.3 * rng.random())) / 100)
    kind = rng.integers(3)
    low, high = 0.0 if kind == 0 else float(low), 1.0 if kind == 1 else float(high)
    if (low, high) == (0.0, 1.0):
        return norm_ball(rng, side)  # a band that says nothing
    if not side.simple and rng.random() < 0.4:
        return _levels(rng, side, low, high, each)
    if not side.simple and rows.shape[1] > 3 and rng.random() < 0.3:
        return _part(rng, side, each)
    return _band(side, low, high, each)


def _levels(rng, side, low, high, each):
    """A band of its own for each piece, free for some."""
    free = rng.random(len(side.rows(each))) < 0.3
    levels = np.where(free, 0.0, low * rng.uniform(0.5, 1.0, free.size).round(2))
    return _band(side, levels, np.where(free, 1.0, high), each)


def _part(rng, side, each):
    """A lower bound on some entries of each piece."""
    rows = side.rows(each)
    places = np.sort(rng.choice(rows.shape[1], rng.integers(2, rows.shape[1]), replace=False))
    s = measures.sparseness(rows[:, places])
    low = 0.5 if side.wild or np.isnan(s).any() else max(0.0, float(np.floor(90 * s.min()) / 100))
    axis = side.axis(each)
    if np.isnan(s).any() and not side.wild:
        return norm_ball(rng, side)  # the point has a zero part, which no bound allows
    return Drawn(
        f"OnPart(Sparseness({low:.4g}, {each}), {places.tolist()})",
        lambda: cn.OnPart(cn.Sparseness(low, each=each), places),
        lambda X: cn.sparseness(X[places] if axis == 0 else X[:, places], axis=axis) >= low,
        lambda X: measures.outside_band(parts(X, side.columns, each)[:, places], low, 1.0),
    )


def _band(side, low, high, each):
    axis = side.axis(each)

    def algebra(X):
        s = cn.sparseness(X, axis=axis)
        if np.array_equal(low, high):
            return s == low
        return [s >= low] * bool(np.any(low)) + [s <= high] * bool(np.any(np.less(high, 1)))

    text = ", ".join(np.array2string(np.asarray(s), precision=4) for s in (low, high))
    return Drawn(
        f"Sparseness({text}, {each})",
        lambda: cn.Sparseness(low, high, each=each),
        algebra,
        lambda X: measures.outside_band(parts(X, side.columns, each), low, high),
        length_one=side.rows(each).shape[1] == 1,
    )


def labels(rng, side):
    """Classes of samples, which are the columns of H."""
    y = rng.integers(-1, 3, side.shape[1])
    least = measures.outside_labels(side.point, y, 0.0)
    radius = max(replace(side, unit=1.0).bound(rng, least), 0.05)  # it has no unit
    return Drawn(
        f"Labels({y.tolist()}, {radius:.3g})",
        lambda: cn.Labels(y, radius),
        None,
        lambda X: measures.outside_labels(X, y, radius),
        inputs=(y,),
    )


def convex(rng, side):
    """Sums, differences, one norm or two entries are bounded, in CVXPY and in NumPy."""
    kind = rng.integers(4)
    if kind == 1 and side.shape[0] == 1:
        kind = 0
    text, fn, measure = (
        ("column sums", lambda X: cp.sum(X, axis=0), lambda X: X.sum(axis=0).max()),
        (
            "steps",
            lambda X: cp.abs(cp.diff(X, axis=0)),
            lambda X: np.abs(np.diff(X, axis=0)).max(initial=0.0),
        ),
        ("Frobenius norm", lambda X: cp.norm(X, "fro"), np.linalg.norm),
        ("two entries", lambda X: X[0, 0] + X[-1, -1], lambda X: X[0, 0] + X[-1, -1]),
    )[kind]
    top = side.bound(rng, max(float(measure(side.point)), 0.0))
    return Drawn(
        f"Convex({text} <= {top:.4g})",
        lambda: cn.Convex(lambda X: fn(X) <= top, name=text),
        lambda X: fn(X) <= top,
        lambda X: float(measure(X)) - top,  # in the units of the constraint, as documented
    )
