"""A point of several sets at once, from the projection on each of them.

Projections alternate. Where the sets are convex, Dykstra's corrections make the limit the nearest
point; the way there ends at the first point that is in all of them. Where one is not, plain
projections meet more often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conicnmf.model.constraints.joint import JointProjection, find_projection
from conicnmf.model.terms import Constraint
from conicnmf.types import Array

_ROUNDS = 1000


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
    for constraint in constraints:
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
    array([[0.57735, 0.57735, 0.57735]])
    """
    convex = all(c.convex for c in constraints)
    rests = [np.zeros_like(B) for _ in parts]
    for _ in range(_ROUNDS):
        for place, project in enumerate(parts):
            moved = B + rests[place]
            B = project(moved)
            rests[place] = moved - B if convex else rests[place]
        if all(c.violation(B).max(initial=0.0) <= within for c in constraints):
            break
    return B
