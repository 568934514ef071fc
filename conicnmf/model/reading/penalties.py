"""Recognize the usual penalties on one factor; any other convex one is kept as it is."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.abs import abs as elementwise_abs
from cvxpy.atoms.norm1 import norm1

from conicnmf.model.penalties import L1, L2, ConvexPenalty
from conicnmf.model.reading.as_stated import AsStated
from conicnmf.model.reading.curvature import require_convex, signed
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.squares import match_squares
from conicnmf.model.terms import Penalty
from conicnmf.types import Array

_SIZES = (1.0, 1e-4, 1e4)


def read_penalty(
    coefficient: float, part: cp.Expression, bounds: tuple[Array, Array], names: dict[int, str]
) -> Penalty:
    """Return the penalty coefficient · part, in the orientation of the user's variable."""
    variable = part.variables()[0]
    stated = part if coefficient == 1 else coefficient * part
    form = stated.tree_copy({id(variable): signed(variable, bounds)})
    require_convex(form, "a term on one factor")
    general = ConvexPenalty(AsStated(form, variable), name=shown(stated, names))
    kind = _candidate(part)
    weight = None if kind is None else _weight_of(kind, general, variable.shape, bounds)
    if kind is None or weight is None:
        return general
    # Of the part's own weight, mostly 1, the rounding of the sums is taken out again.
    return kind(coefficient * float(f"{weight / coefficient:.12g}") if weight else 0.0)


def _candidate(part: cp.Expression) -> type[L1] | type[L2] | None:
    """Return the penalty that a part may be from its atoms.

    Values alone would not tell: a Huber function equals a sum of squares for all small entries.
    But two quadratics that agree at random points are the same, and so are two sums of magnitudes.
    """
    if _made_of(part, _is_magnitude):
        return L1
    return L2 if _made_of(part, _is_square) else None


def _made_of(node: cp.Expression, known: Callable[[cp.Expression], bool]) -> bool:
    """Whether an expression is affine in known functions of affine expressions."""
    if node.is_affine() or known(node):
        return True
    return isinstance(node, AffAtom) and all(_made_of(part, known) for part in node.args)


def _is_magnitude(node: cp.Expression) -> bool:
    return isinstance(node, (elementwise_abs, norm1)) and bool(node.args[0].is_affine())


def _is_square(node: cp.Expression) -> bool:
    squares = match_squares(node)
    return squares is not None and bool(squares.argument.is_affine())


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
