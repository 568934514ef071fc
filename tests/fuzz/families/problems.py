"""Factorizations of every shape: two factors, views, offsets, three factors, constants."""

from __future__ import annotations

import numpy as np

from ..draw import constraints, structured, wrong_way
from ..draw.data import EXPONENTS, draw_data
from ..draw.losses import draw_loss
from ..draw.methods import draw_method
from ..draw.numbers import chance, pick
from ..draw.penalties import draw_penalty
from ..draw.shapes import draw_shape
from ..draw.terms import Side
from ..draw.units import share_units
from .problem_case import ProblemCase

STYLES = {"plain": 3, "components": 3, "any": 4}
"""Non-negative factors; terms that most solvers take; everything."""
SHAPERS = {
    "plain": {"none": 1},
    "components": {
        "none": 4,
        "unit_norm": 1,
        "prescribed": 1,
        "monotone": 0.3,
        "unimodal": 0.3,
        "cardinality": 0.4,
        "orthogonal": 0.2,
    },
    "any": {
        "none": 14,
        "simplex": 3,
        "unit_norm": 0.5,
        "prescribed": 2,
        "monotone": 0.8,
        "unimodal": 0.5,
        "cardinality": 0.8,
        "orthogonal": 0.5,
    },
}
FITTERS = {
    "plain": {"none": 1},
    "components": {"none": 4, "sparse": 4, "box": 1, "fixed": 1, "norm_ball": 1},
    "any": {
        "none": 12,
        "sparse": 6,
        "box": 2,
        "fixed": 2,
        "norm_ball": 2,
        "convex": 2,
        "labels": 1,
        "factor_sum": 0.7,
        "factor_norm": 0.7,
        "reverse_convex": 1.5,
    },
}


def draw(rng, name, shift=0):
    """Draw a problem; `shift` gives the same one for data 2^(6 shift) times as large."""
    m, n, rank = _sizes(rng)
    shape = draw_shape(rng, m, n, rank)
    exponent = pick(rng, EXPONENTS) + 6 * shift
    style = pick(rng, STYLES)
    wild = style != "plain" and rng.random() < 0.2
    shapers = {own: pick(rng, SHAPERS[style]) for own in shape.variables}
    normed = [own for own, shaper in shapers.items() if shaper == "unit_norm"]
    exponents = share_units(shape, normed, exponent)
    unit = 2.0 ** (exponent if any(exponents.values()) else 0)
    sides = _sides(rng, shape, style, wild, exponents)
    terms = {side.name: _constraints(rng, side, style, shapers[side.name]) for side in sides}
    point = {side.name: side.point for side in sides}
    for side in sides:
        side.worth = unit**2 * max(m, n)
        for _ in range(int(rng.choice(3, p=[0.75, 0.2, 0.05]))):
            terms[side.name].append(draw_penalty(rng, side))
    models = {o.data: o.value(point, shape.constants) for o in shape.models}
    data = {own: draw_data(rng, model, unit, 0.02) for own, model in models.items()}
    stated = _stated_in_cvxpy(data, terms)
    tiny = m * n <= 40 and rank <= 3 and shape.is_two
    nonneg = all(side.nonneg for side in sides) and all(
        X.min() >= 0 for X in shape.constants.values()
    )
    losses = {
        own: draw_loss(rng, data[own].dense, model, style, tiny and stated, nonneg)
        for own, model in models.items()
    }
    weights = {own: float(pick(rng, {1.0: 3, 0.5: 1, 4.0: 1})) for own in list(models)[1:]}
    units = {side.name: side.unit for side in sides} | {"data": unit}
    method = draw_method(rng, style, point, units, tiny)
    doors = _doors(rng, shape, stated, losses.values())
    return ProblemCase(name, shape, data, losses, terms, point, not wild, doors, method, weights)


def _stated_in_cvxpy(data, terms):
    """Whether CVXPY can state the data and every term."""
    plain = all(own.stated_in_cvxpy and not own.refused for own in data.values())
    return plain and all(t.algebra is not None for ts in terms.values() for t in ts)


def _sizes(rng):
    m, n = (int(rng.integers(2, 13)) for _ in range(2))
    rank = int(rng.integers(1, min(m, n) + 1)) if rng.random() < 0.85 else int(rng.integers(1, 13))
    odd = rng.random()
    if odd < 0.08:
        return m, n, 1
    if odd > 0.98:
        return 1, 1, rank
    return (1 if odd < 0.13 else m), (1 if 0.13 <= odd < 0.18 else n), rank


def _sides(rng, shape, style, wild, exponents):
    """Draw a point for each variable."""
    share = {"plain": 0.95, "components": 0.9, "any": 0.85}[style]
    sides = []
    for name, (own, columns) in shape.variables.items():
        nonneg, unit = chance(rng, share), 2.0 ** exponents[name]
        X = rng.random(own) ** 2 + 0.01 if nonneg else rng.standard_normal(own)
        if nonneg and chance(rng, 0.3):
            X = np.where(rng.random(own) < 0.3, 0.001, X)
        sides.append(Side(name, unit * X, columns, nonneg, wild, style != "any", unit))
    return sides


def _constraints(rng, side, style, shaper):
    """Draw the terms: first what shapes the point, then bounds that the point meets."""
    drawn = [constraints.nonnegative(rng, side)] if side.nonneg else []
    if shaper != "none" and (side.nonneg or shaper not in ("simplex", "orthogonal")):
        drawn.append(_MAKERS[shaper](rng, side))
    crowd = 4 if chance(rng, 0.2) else 2
    for _ in range(1 if side.simple else crowd):
        fitter = pick(rng, FITTERS[style])
        labeled = side.name.startswith("H") and side.nonneg and not side.columns
        if fitter == "labels" and not labeled:
            continue
        if fitter != "none":
            drawn.append(_MAKERS[fitter](rng, side))
    return drawn


_MAKERS = vars(constraints) | vars(structured) | vars(wrong_way)


def _doors(rng, shape, in_algebra, losses):
    """Return the doors to use, one or two of those that can state the problem."""
    if any(loss.term is None for loss in losses):
        return ("algebra",)
    able = (["terms"] if shape.options is not None else []) + ["compose"]
    able += ["algebra"] if in_algebra and all(loss.algebra is not None for loss in losses) else []
    first = able[0] if chance(rng, 0.6) else able[int(rng.integers(len(able)))]
    others = [door for door in able if door != first]
    if others and chance(rng, 0.25):
        return first, others[int(rng.integers(len(others)))]
    return (first,)
