"""Recognize the squared Frobenius loss, plain or weighted, in any of its spellings."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.elementwise.abs import abs as elementwise_abs
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.atoms.quad_over_lin import quad_over_lin

from conicnmf.model.losses import Frobenius, WeightedFrobenius
from conicnmf.model.losses.frobenius import squared_norm
from conicnmf.model.reading.read_fit import ReadFit, fitted
from conicnmf.model.reading.residual import Residual, read_residual
from conicnmf.model.reading.values import exponent_of, scalar_of, weighted_by
from conicnmf.types import Data, stored


@dataclass(frozen=True, eq=False)
class Squares:
    """The sum scale · Σ weights ∘ argument²."""

    argument: cp.Expression
    scale: float = 1.0
    weights: Data | None = None


def read_squares(coefficient: float, part: cp.Expression) -> ReadFit | None:
    """Return coefficient · part as a Frobenius loss, or nothing when it is another."""
    squares = match_squares(part)
    if squares is None or coefficient * squares.scale <= 0:
        return None
    residual = read_residual(squares.argument)
    if residual is not None and squares.weights is not None:
        if stored(squares.weights).min(initial=0.0) < 0:
            return None
        residual = residual.weighted(np.sqrt(squares.weights))
    return None if residual is None else _as_fit(coefficient * squares.scale, residual)


def match_squares(part: cp.Expression) -> Squares | None:
    """Return the argument of a sum of squares.

    Examples
    --------
    >>> import cvxpy as cp
    >>> X = cp.Variable((2, 2), name="X")
    >>> str(match_squares(cp.sum(cp.square(cp.norm(X, 2, axis=0)))).argument)
    'X'
    """
    if isinstance(part, quad_over_lin):
        divisor = scalar_of(part.args[1])
        return Squares(_under_norm(part.args[0]), 1 / divisor) if divisor and divisor > 0 else None
    if isinstance(part, Power) and exponent_of(part) == 2:
        return Squares(_under_norm(part.args[0]))
    if not isinstance(part, Sum):
        return None
    weighted = weighted_by(part.args[0])
    if weighted is None:
        return match_squares(part.args[0])
    inner = weighted[1]
    if isinstance(inner, Power) and exponent_of(inner) == 2:
        return Squares(inner.args[0], 1.0, weighted[0])
    return None


def _under_norm(argument: cp.Expression) -> cp.Expression:
    """Return what a Euclidean norm or a magnitude is of: its squares have the same sum."""
    while isinstance(argument, elementwise_abs) or (
        isinstance(argument, Pnorm) and argument.p == 2
    ):
        argument = argument.args[0]
    return argument


def _as_fit(coefficient: float, residual: Residual) -> ReadFit | None:
    if residual.V is None:
        return None
    weights = None if residual.weights is None else abs(residual.weights)
    offset = 0.0 if residual.rest is None else coefficient * squared_norm(residual.rest)

    def make(unit: float, M: Data | None) -> Frobenius | WeightedFrobenius:
        total = coefficient * unit**2
        if M is None:
            return Frobenius(total)
        if not sp.issparse(M) and M.min() == M.max() > 0:
            return Frobenius(total * float(M.flat[0]) ** 2)
        return WeightedFrobenius(M, total)

    # The unit of the first product becomes the unit of the data.
    unit = residual.products[0].scale
    V = residual.V if unit == 1 else residual.V / unit
    return fitted(residual, V, weights, make, offset)
