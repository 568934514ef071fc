"""Terms that curve the wrong way: lower bounds on convex functions, and concave penalties."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

import conicnmf as cn

from .numbers import short
from .terms import Drawn


def reverse_convex(rng, side):
    """A norm, a largest entry or a sum of squares is at least a number, or bounds another norm."""
    X, unit = side.point, side.unit
    text, fn, measure, power = (
        ("norms", lambda X: cp.norm(X, 2, axis=0), lambda X: np.linalg.norm(X, axis=0), 1),
        ("largest", lambda X: cp.max(X, axis=0), lambda X: X.max(axis=0), 1),
        ("squares", cp.sum_squares, lambda X: np.array([np.sum(X**2)]), 2),
    )[rng.integers(3)]
    least = float(measure(X).min())
    level = short(unit**power * rng.uniform(0.1, 3) if side.wild else least * rng.uniform(0.3, 0.9))

    def stated(X):
        return fn(X) >= level

    return Drawn(
        f"ReverseConvex({text} >= {level:.4g})",
        lambda: cn.ReverseConvex(stated, name=text),
        stated,
        lambda X: float(level - measure(X).min()),  # in the units of the constraint, as documented
    )


def log_sum(rng, side, weight):
    eps = short(side.unit * 10 ** rng.uniform(-2, 1))
    weight = short(weight * side.unit)
    return Drawn(
        f"LogSum({weight:g}, {eps:g})",
        lambda: cn.LogSum(weight, eps),
        value=lambda X: weight * float(np.log1p(np.abs(X) / eps).sum()),
    )


def capped_l1(rng, side, weight):
    cap = short(side.unit * 10 ** rng.uniform(-2, 1))
    return Drawn(
        f"CappedL1({weight:g}, {cap:g})",
        lambda: cn.CappedL1(weight, cap),
        value=lambda X: weight * float(np.minimum(np.abs(X), cap).sum()),
    )


def nonzeros(rng, side, weight):
    weight = short(weight * side.unit)
    return Drawn(
        f"NonZeros({weight:g})",
        lambda: cn.NonZeros(weight),
        value=lambda X: weight * float((X != 0).sum()),
    )


def concave(rng, side, weight):
    """Entries up to a cap; only where that is a price and no endless reward."""
    cap = short(side.unit * 10 ** rng.uniform(-2, 1))
    if not side.nonneg:
        return capped_l1(rng, side, weight)

    def fn(X):
        return weight * cp.sum(cp.minimum(X, cap))

    return Drawn(
        f"ConcavePenalty({weight:g} up to {cap:g})",
        lambda: cn.ConcavePenalty(fn),
        fn,
        value=lambda X: weight * float(np.minimum(X, cap).sum()),
    )


PENALTIES = (log_sum, capped_l1, nonzeros, concave)
