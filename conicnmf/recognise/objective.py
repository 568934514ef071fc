"""Read an objective: split it by the factors it mentions, find V, the loss and the penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.reshape import reshape
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.transpose import transpose
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.atoms.quad_over_lin import quad_over_lin

from conicnmf._types import Array
from conicnmf.errors import ModelError
from conicnmf.losses import Biconvex, Frobenius, WeightedFrobenius
from conicnmf.penalties import L1, L2, ConvexPenalty
from conicnmf.recognise.curvature import require_convex
from conicnmf.terms import Loss, Penalty


@dataclass(frozen=True, eq=False)
class Factor:
    """A variable in its role: `flipped` when it is the transpose of the factor it stands for."""

    variable: cp.Variable
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the factor, W as features × rank and H as rank × samples."""
        rows, columns = self.variable.shape
        return (columns, rows) if self.flipped else (rows, columns)


@dataclass(frozen=True, eq=False)
class Reading:
    """What the joint part of an objective says."""

    W: Factor
    H: Factor
    V: Any
    loss: Loss


def addends(expression: cp.Expression, factor: float = 1.0) -> list[tuple[float, cp.Expression]]:
    """Flatten sums, signs and scalar factors into (coefficient, expression) pairs."""
    if isinstance(expression, AddExpression):
        return [pair for part in expression.args for pair in addends(part, factor)]
    if isinstance(expression, NegExpression):
        return addends(expression.args[0], -factor)
    if isinstance(expression, DivExpression):
        divisor = _scalar(expression.args[1])
        if divisor:
            return addends(expression.args[0], factor / divisor)
    elif isinstance(expression, MulExpression):
        for known, other in (expression.args, expression.args[::-1]):
            scalar = _scalar(known)
            if scalar is not None and not other.is_constant():
                return addends(other, factor * scalar)
    return [(factor, expression)]


def read_loss(parts: list[tuple[float, cp.Expression]]) -> Reading:
    """Return the loss stated by the addends that mention both factors."""
    if len(parts) == 1:
        reading = _read_squares(*parts[0])
        if reading is not None and _agrees(reading, *parts[0]):
            return reading
    return _read_generic(parts)


def read_penalty(coefficient: float, part: cp.Expression, factor: Factor) -> Penalty:
    """Return the penalty stated by one addend, in the orientation of the user's variable."""
    expression = part if coefficient == 1 else coefficient * part
    require_convex(expression, expression, "a term on one factor")
    variable = factor.variable

    def fn(X: cp.Expression) -> cp.Expression:
        return expression.tree_copy({id(variable): X})

    general = ConvexPenalty(fn, name=str(expression))
    for simple in (L1, L2):
        weight = _weight_of(simple, general, variable)
        if weight is not None:
            return simple(weight)
    return general


def _weight_of(
    kind: type[L1] | type[L2], penalty: ConvexPenalty, variable: cp.Variable
) -> float | None:
    """Return w when the penalty equals kind(w) at random points, whatever its spelling."""
    rng = np.random.default_rng(0)
    points = [rng.standard_normal(variable.shape) for _ in range(3)]
    if variable.is_nonneg():
        points = [np.abs(point) for point in points]
    unit = kind(1.0)
    weight = penalty.value(points[0]) / unit.value(points[0])
    if weight < 0 or not np.isfinite(weight):
        return None
    same = all(
        np.isclose(penalty.value(point), weight * unit.value(point), rtol=1e-9) for point in points
    )
    return float(weight) if same else None


def _scalar(expression: cp.Expression) -> float | None:
    if isinstance(expression, Promote):
        return _scalar(expression.args[0])
    if expression.is_scalar() and expression.is_constant():
        return float(np.asarray(expression.value).item())
    return None


def _read_squares(coefficient: float, part: cp.Expression) -> Reading | None:
    """Match coefficient · ‖M ∘ (V − W H)‖² in any of its spellings."""
    matched = _match_squares(part)
    if matched is None or coefficient <= 0:
        return None
    residual, scale, weights = matched
    while isinstance(residual, reshape):  # a norm does not see the order of its entries
        residual = residual.args[0]
    terms = addends(residual)
    if len(terms) == 1 and isinstance(terms[0][1], multiply):
        factor, (mask, residual) = terms[0][0], _mask_first(terms[0][1])
        if mask is None:
            return None
        weights = _times(weights, abs(factor) * np.abs(mask))
        terms = addends(residual)
    product = [(a, term) for a, term in terms if not term.is_constant()]
    if len(product) != 1 or len(terms) != 2:
        return None
    alpha, joint = product[0]
    beta, data = next((a, term) for a, term in terms if term.is_constant())
    V = _value(data)
    if isinstance(joint, multiply):  # M∘V − M∘(W H)
        mask, joint = _mask_first(joint)
        if mask is None or sp.issparse(V):
            return None
        weights = _times(weights, np.abs(mask))
        V = np.divide(V, mask, out=np.zeros(V.shape), where=mask != 0)
        inner = addends(joint)
        alpha, joint = alpha * inner[0][0], inner[0][1]
    roles = _roles(joint)
    if roles is None or V is None or alpha == 0:
        return None
    W, H, outer_flip, inside = roles
    alpha *= inside
    V = V * (-beta / alpha) if beta != -alpha else V
    if outer_flip:
        V, weights = V.T, None if weights is None else weights.T
    total = coefficient * scale * alpha**2
    if weights is None:
        return Reading(W, H, V, Frobenius(total))
    return Reading(W, H, V, WeightedFrobenius(weights, total))


def _match_squares(part: cp.Expression) -> tuple[cp.Expression, float, Any] | None:
    """Return (residual, scale, weights) when the part is a sum of squares of a residual."""
    if isinstance(part, quad_over_lin) and getattr(part, "axis", None) is None:
        divisor = _scalar(part.args[1])
        return (part.args[0], 1 / divisor, None) if divisor else None
    if isinstance(part, Power) and _exponent(part) == 2 and isinstance(part.args[0], Pnorm):
        norm = part.args[0]
        return (norm.args[0], 1.0, None) if norm.p == 2 and norm.axis is None else None
    if isinstance(part, Sum) and part.axis is None:
        inner = part.args[0]
        weights = None
        if isinstance(inner, multiply):
            squared, inner = _mask_first(inner)
            if squared is None or (squared < 0).any():
                return None
            weights = np.sqrt(squared)
        if isinstance(inner, Power) and _exponent(inner) == 2:
            return inner.args[0], 1.0, weights
    return None


def _exponent(power: Power) -> float:
    value = getattr(power.p, "value", power.p)
    return float(value)


def _mask_first(product: multiply) -> tuple[Any, cp.Expression]:
    """Return the constant and the other factor of an elementwise product."""
    for known, other in (product.args, product.args[::-1]):
        if known.is_constant():
            return _value(known), other
    return None, product


def _value(expression: cp.Expression) -> Any:
    """Return a constant's value, reading leaves only where folding would make sparse data dense."""
    if isinstance(expression, cp.Constant):
        value = expression.value
        return sp.csr_array(value) if sp.issparse(value) else np.asarray(value)
    if isinstance(expression, transpose):
        inner = _value(expression.args[0])
        return None if inner is None else inner.T
    return np.asarray(expression.value) if expression.is_constant() else None


def _times(weights: Any, mask: Array) -> Any:
    return mask if weights is None else weights * mask


def _roles(product: cp.Expression) -> tuple[Factor, Factor, bool, float] | None:
    """Return (W, H, whether the product was Hᵀ Wᵀ, scalar factor) for W @ H and its transposes."""
    if isinstance(product, transpose):
        inner = _roles(product.args[0])
        return None if inner is None else (inner[0], inner[1], not inner[2], inner[3])
    if not isinstance(product, MulExpression) or isinstance(product, multiply):
        return None
    sides = []
    scale = 1.0
    for side in product.args:
        pairs = addends(side)
        scale *= pairs[0][0]
        factor = _as_factor(pairs[0][1]) if len(pairs) == 1 else None
        if factor is None:
            return None
        sides.append(factor)
    left, right = sides
    if left.variable.id == right.variable.id:
        return None
    if left.flipped and right.flipped:
        return replace(right, flipped=False), replace(left, flipped=False), True, scale
    return left, right, False, scale


def _as_factor(side: cp.Expression) -> Factor | None:
    if isinstance(side, cp.Variable):
        return Factor(side)
    if isinstance(side, transpose) and isinstance(side.args[0], cp.Variable):
        return Factor(side.args[0], flipped=True)
    return None


def _agrees(reading: Reading, coefficient: float, part: cp.Expression) -> bool:
    """Compare the reading with the stated expression at a random point."""
    if sp.issparse(reading.V):
        return True  # evaluating the expression would make the data dense
    rng = np.random.default_rng(0)
    W, H = rng.random(reading.W.shape), rng.random(reading.H.shape)
    places = {
        id(factor.variable): cp.Constant(X.T if factor.flipped else X)
        for factor, X in ((reading.W, W), (reading.H, H))
    }
    stated = coefficient * float(part.tree_copy(places).value)
    return bool(np.isclose(stated, reading.loss.value(reading.V, W, H), rtol=1e-8))


def _read_generic(parts: list[tuple[float, cp.Expression]]) -> Reading:
    """Keep the expression as it is, once V and the two roles are found in it."""
    total: cp.Expression = sum(coefficient * part for coefficient, part in parts)
    found = next((pair for _, part in parts for pair in _products(part, None)), None)
    if found is None:
        raise ModelError(
            f"the objective must contain a product W @ H of the two factors, got {total}; "
            "for example cp.sum_squares(V - W @ H)"
        )
    product, parent = found
    left, right = (side.variables()[0] for side in product.args)
    roles = _roles(product)
    W, H = (roles[0], roles[1]) if roles else (Factor(left), Factor(right))
    V = _data_beside(product, parent)
    if V is None:
        raise ModelError(
            f"no data was found beside {product}; a loss compares the product with a constant "
            "matrix V, for example cp.sum(cp.huber(V - W @ H))"
        )
    for other, kept in ((W, H), (H, W)):
        held = cp.Parameter(other.variable.shape, nonneg=other.variable.is_nonneg())
        where = f"the objective with {other.variable} fixed, as a function of {kept.variable},"
        require_convex(total.tree_copy({id(other.variable): held}), total, where)
    if roles and roles[2]:
        V = V.T
    loss = Biconvex(total, W.variable, H.variable, W.flipped, H.flipped)
    return Reading(W, H, V, loss)


def _products(
    expression: cp.Expression, parent: cp.Expression | None
) -> list[tuple[cp.Expression, cp.Expression | None]]:
    """Return the matrix products of one factor with the other, each with what contains it."""
    if isinstance(expression, MulExpression) and not isinstance(expression, multiply):
        left, right = (argument.variables() for argument in expression.args)
        if len(left) == len(right) == 1 and left[0].id != right[0].id:
            return [(expression, parent)]
    keep = isinstance(expression, NegExpression)
    above = parent if keep else expression
    return [pair for argument in expression.args for pair in _products(argument, above)]


def _data_beside(product: cp.Expression, parent: cp.Expression | None) -> Any:
    """Return the constant of the product's shape that stands next to it."""
    for argument in parent.args if parent is not None else ():
        inner = argument.args[0] if isinstance(argument, NegExpression) else argument
        if inner.is_constant() and inner.shape == product.shape:
            return _value(inner)
    return None
