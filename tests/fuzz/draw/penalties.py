"""Every penalty, drawn at the scale of the data, now and then far too large."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..judge import measures
from ..judge.measures import parts
from . import structured_penalties, wrong_way
from .numbers import short
from .terms import Drawn, draw_each


def draw_penalty(rng, side):
    """Draw a penalty; a weight of one is about what one unit of the variable is worth."""
    weight = short(side.worth / side.unit * 10 ** rng.uniform(-3, 1.3))
    kinds = (l1, l2) if side.simple else (l1, l1, l2, roughness, largest, reward)
    if rng.random() < (0.15 if side.simple else 0.4):
        kinds = structured_penalties.KINDS + wrong_way.PENALTIES
    return kinds[rng.integers(len(kinds))](rng, side, weight)


def l1(rng, side, weight):
    plain = side.nonneg and rng.random() < 0.5
    return Drawn(
        f"L1({weight:g})",
        lambda: cn.L1(weight),
        lambda X: weight * (cp.sum(X) if plain else cp.norm1(X)),
        value=lambda X: weight * float(np.abs(X).sum()),
    )


def l2(rng, side, weight):
    weight = short(weight / side.unit)
    return Drawn(
        f"L2({weight:g})",
        lambda: cn.L2(weight),
        lambda X: weight * cp.sum_squares(X),
        value=lambda X: weight * float((X**2).sum()),
    )


def roughness(rng, side, weight):
    if side.shape[0] == 1:
        return l2(rng, side, weight)

    def fn(X):
        return weight / side.unit * cp.sum_squares(cp.diff(X, axis=0))

    return Drawn(
        f"ConvexPenalty({weight / side.unit:g} roughness)",
        lambda: cn.ConvexPenalty(fn),
        fn,
        value=lambda X: weight / side.unit * float((np.diff(X, axis=0) ** 2).sum()),
    )


def largest(rng, side, weight):
    def fn(X):
        return weight * cp.max(X)

    return Drawn(
        f"ConvexPenalty({weight:g} largest)",
        lambda: cn.ConvexPenalty(fn),
        fn,
        value=lambda X: weight * float(X.max()),
    )


def reward(rng, side, weight):
    each = draw_each(rng, side)
    if side.rows(each).shape[1] == 1:
        each = "component" if each == "sample" else "sample"
    if side.rows(each).shape[1] == 1:
        return l2(rng, side, weight)
    weight = short(weight * side.unit)

    def value(X):
        return -weight * float(np.nansum(measures.sparseness(parts(X, side.columns, each))))

    return Drawn(
        f"SparsenessReward({weight:g}, {each})",
        lambda: cn.SparsenessReward(weight, each=each),
        value=value,
    )
