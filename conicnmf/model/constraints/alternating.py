"""A point of several sets at once, from the projection on each of them.

Projections alternate. Where the sets are convex, Dykstra's corrections make the limit the nearest
point; the way there ends at the first point that is in all of them. Where one is not, plain
projections meet more often. Reflections go on where these stand still: what they leave as it is
belongs to a common point, which is not so for alternating projections.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conicnmf.model.constraints.joint import JointProjection, find_projection
from conicnmf.model.terms import Constraint
from conicnmf.types import Array

_ROUNDS = 1000
_REFLECTIONS = 200
_PATIENCE, _FALL = 50, 0.7
"""Sets that are not convex are left when so many rounds leave this part of the violation."""


def find_parts(constraints: Sequence[Constraint]) -> list[JointProjection] | None:
    """Return projections on few sets that together are all constraints, nothing where one lacks.

    Examples
    --------
    >>> import conicnmf as cn
    >>> len(find_parts([cn.NonNegative(), cn.Monotone(), cn.NormBall()]))
    2
    """
    whole = find_projection(constraints)
    if whole is not None:
        return [whole]
    boxes = [c for c in constraints if "bounds" in c.abilities]
    parts: list[JointProjection] = []
    boxed = not boxes
    # What is found depends on who comes first, and should not on the order in which sets are listed.
    for constraint in sorted(constraints, key=str, reverse=True):
        if constraint in boxes:
            continue
        both = find_projection([*boxes, constraint])
        own = both or find_projection([constraint])
        if own is None:
            return None
        parts.append(own)
        boxed = boxed or both is not None
    rest = None if boxed else find_projection(boxes)
    return parts if rest is None else [*parts, rest]


def alternate(
    parts: Sequence[JointProjection], constraints: Sequence[Constraint], B: Array, within: float
) -> Array:
    """Return a point of all parts near B, as good as many rounds make it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> stated = [cn.NonNegative(), cn.Monotone(), cn.NormBall()]
    >>> alternate(find_parts(stated), stated, np.array([[4.0, 0.0, -1.0]]), 1e-9).round(6)
    array([[0.333333, 0.333333, 0.333333]])
    """
    nonneg = any(c.implies_nonnegative for c in constraints)
    convex = all(c.convex and (nonneg or not c.orthant_only) for c in constraints)
    rests = [np.zeros_like(B) for _ in parts]
    last = np.inf
    for count in range(1, _ROUNDS + 1):
        for place, project in enumerate(parts):
            moved = B + rests[place]
            B = project(moved)
            rests[place] = moved - B if convex else rests[place]
        worst = _worst(constraints, B)
        if worst <= within:
            break
        if count % _PATIENCE == 1 and not convex:
            if worst > _FALL * last:
                break  # it would not come there in all rounds
            last = worst
    return B


def reflect(
    parts: Sequence[JointProjection], constraints: Sequence[Constraint], B: Array, within: float
) -> Array:
    """Return a point of all parts by reflections of copies at their parts and at their mean.

    Of all points that were seen it is the one with the least violation.

    Examples
    --------
    >>> import conicnmf as cn
    >>> stated = [cn.Cardinality(1), cn.Box(np.array([[1.0, 0.0]]), np.array([[1.0, 2.0]]))]
    >>> reflect(find_parts(stated), stated, np.array([[1.0, 1.8]]), 1e-9)
    array([[1., 0.]])
    """
    copies = [B for _ in parts]
    best, least = B, np.inf
    for _ in range(_REFLECTIONS):
        mean = np.mean(copies, axis=0, dtype=B.dtype)
        shadows = [project(2 * mean - X) for project, X in zip(parts, copies, strict=True)]
        for found in shadows:
            worst = _worst(constraints, found)
            if worst < least:
                best, least = found, worst
        if least <= within:
            break
        copies = [X + found - mean for X, found in zip(copies, shadows, strict=True)]
    return best


def _worst(constraints: Sequence[Constraint], B: Array) -> float:
    return max(float(c.violation(B).max(initial=0.0)) for c in constraints)
