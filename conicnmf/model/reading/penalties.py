"""Recognize the usual penalties on one factor; any other convex one is kept as it is."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.curvature_parts import halves
from conicnmf.model.penalties import ConcavePenalty, ConvexPenalty
from conicnmf.model.reading.as_stated import AsStated
from conicnmf.model.reading.curvature import require_convex, signed
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.structured import candidates
from conicnmf.model.terms import Penalty
from conicnmf.types import Array

_SIZES = (1.0, 1e-4, 1e4)


def read_penalties(
    parts: list[Part], bounds: tuple[Array, Array], names: dict[int, str], component_axis: int
) -> list[Penalty]:
    """Return the penalties that parts of the objective are, in the orientation of the variable.

    What is known for no part alone may be known of their sum, as where each column has its part.
    """
    known: list[Penalty] = []
    kept: list[tuple[Part, ConvexPenalty]] = []
    for coefficient, part in parts:
        general = _as_stated(coefficient, part, bounds, names)
        if not isinstance(general, ConvexPenalty):
            known += general
            continue
        found = _recognized(coefficient, part, general, bounds, component_axis)
        if found is None:
            kept.append(((coefficient, part), general))
        else:
            known.append(found)
    if len(kept) > 1:
        whole = sum(coefficient * part for (coefficient, part), _ in kept)
        general = _as_stated(1.0, whole, bounds, names)
        assert isinstance(general, ConvexPenalty)  # a sum of such
        found = _recognized(1.0, whole, general, bounds, component_axis)
        if found is not None:
            return [*known, found]
    return [*known, *(general for _, general in kept)]


def _as_stated(
    coefficient: float, part: cp.Expression, bounds: tuple[Array, Array], names: dict[int, str]
) -> ConvexPenalty | list[Penalty]:
    """Return coefficient · part as it is where it is convex, else its convex and concave parts."""
    variable = part.variables()[0]
    stated = part if coefficient == 1 else coefficient * part
    form = stated.tree_copy({id(variable): signed(variable, bounds)})
    if form.is_convex():
        return ConvexPenalty(AsStated(form, variable), name=shown(stated, names))
    try:
        sides = halves(form)
    except ModelError:
        require_convex(form, "a term on one factor")
        raise
    kinds = (ConvexPenalty, ConcavePenalty)
    return [
        kind(AsStated(side, variable), name=shown(stated, names))
        for kind, side in zip(kinds, sides, strict=True)
        if not side.is_constant()
    ]


def _recognized(
    coefficient: float,
    part: cp.Expression,
    general: ConvexPenalty,
    bounds: tuple[Array, Array],
    component_axis: int,
) -> Penalty | None:
    """Return the penalty whose multiple equals the general one at random points of several sizes."""
    rng = np.random.default_rng(0)
    points = [size * rng.standard_normal(part.variables()[0].shape) for size in _SIZES]
    if (bounds[0] >= 0).all():
        points = [np.abs(point) for point in points]
    values: list[float] = []
    for unit in candidates(part, component_axis):
        values = values or [general.value(X) for X in points]
        own = [unit.value(X if component_axis else np.ascontiguousarray(X.T)) for X in points]
        weight = values[0] / own[0] if own[0] else np.inf
        if 0 <= weight < np.inf and np.allclose(values, weight * np.array(own), rtol=1e-9, atol=0):
            # Of the part's own weight, mostly 1, the rounding of the sums is taken out again.
            exact = coefficient * float(f"{weight / coefficient:.12g}") if weight else 0.0
            return unit.times(exact)
    return None
