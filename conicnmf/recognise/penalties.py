"""Recognise the usual penalties on one factor; any other convex one is kept as it is."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.abs import abs as elementwise_abs
from cvxpy.atoms.norm1 import norm1

from conicnmf._types import Array
from conicnmf.penalties import L1, L2, ConvexPenalty
from conicnmf.recognise.curvature import require_convex, signed
from conicnmf.recognise.naming import shown
from conicnmf.recognise.squares import match_squares
from conicnmf.terms import Penalty

_SIZES = (1.0, 1e-4, 1e4)


def read_penalty(
    coefficient: float, part: cp.Expression, bounds: tuple[Array, Array], names: dict[int, str]
) -> Penalty:
    """Return the penalty coefficient · part, in the orientation of the user's variable."""
    variable = part.variables()[0]
    stated = part if coefficient == 1 else coefficient * part
    form = stated.tree_copy({id(variable): signed(variable, bounds)})
    require_convex(form, "a term on one factor")

    def fn(X: cp.Expression) -> cp.Expression:
        return form.tree_copy({id(variable): X})

    general = ConvexPenalty(fn, name=shown(stated, names))
    kind = _candidate(part)
    weight = None if kind is None else _weight_of(kind, general, variable.shape, bounds)
    return general if kind is None or weight is None else kind(weight)


def _candidate(part: cp.Expression) -> type[L1] | type[L2] | None:
    """Return the penalty that a part may be from its atoms.

    Values alone would not tell: a Huber function equals a sum of squares for all small entries.
    But two quadratics that agree at random points are the same, and so are two sums of magnitudes.
    """
    squares = match_squares(part)
    if part.is_quadratic() and not part.is_affine():
        return L2
    if squares is not None and squares.argument.is_affine():
        return L2
    return L1 if _made_of_magnitudes(part) else None


def _made_of_magnitudes(part: cp.Expression) -> bool:
    if not part.args:
        return True
    known = isinstance(part, (AffAtom, elementwise_abs, norm1))
    return known and all(map(_made_of_magnitudes, part.args))


def _weight_of(
    kind: type[L1] | type[L2],
    penalty: ConvexPenalty,
    shape: tuple[int, int],
    bounds: tuple[Array, Array],
) -> float | None:
    """Return w when the penalty equals kind(w) at random points of several sizes."""
    rng = np.random.default_rng(0)
    points = [size * rng.standard_normal(shape) for size in _SIZES]
    if (bounds[0] >= 0).all():
        points = [np.abs(point) for point in points]
    unit = kind(1.0)
    weight = penalty.value(points[0]) / unit.value(points[0])
    if not 0 <= weight < np.inf:
        return None
    same = (np.isclose(penalty.value(X), weight * unit.value(X), rtol=1e-9, atol=0) for X in points)
    return float(weight) if all(same) else None
