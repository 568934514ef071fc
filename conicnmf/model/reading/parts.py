"""Split an objective into addends, whatever its signs, factors and nesting."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.sum import Sum

from conicnmf.model.reading.values import scaled_by, value_of, weighted_by

Part = tuple[float, cp.Expression]
"""A coefficient and the expression it multiplies."""


@dataclass(frozen=True, eq=False)
class Split:
    """The addends that mention both factors, those that mention one, and the constant."""

    joint: list[Part]
    single: list[Part]
    offset: float


def split(objective: cp.Expression) -> Split:
    """Sort the addends of an objective by the factors they mention."""
    joint: list[Part] = []
    single: list[Part] = []
    offset = 0.0
    for coefficient, part in addends(objective):
        mentioned = len(part.variables())
        if mentioned == 0:
            offset += coefficient * float(value_of(part).item())
        else:
            (single if mentioned == 1 else joint).append((coefficient, part))
    return Split(joint, single, offset)


def addends(expression: cp.Expression, factor: float = 1.0) -> list[Part]:
    """Flatten sums, signs and scalar factors into (coefficient, expression) pairs.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(3, name="x")
    >>> [(c, str(part)) for c, part in addends(1 - 2 * cp.sum(3 * x) / 4)]
    [(1.0, '1.0'), (-1.5, 'Sum(x, None, False)')]
    """
    if isinstance(expression, AddExpression):
        return [pair for part in expression.args for pair in addends(part, factor)]
    scaled = scaled_by(expression)
    if scaled is not None:
        return addends(scaled[1], factor * scaled[0])
    if isinstance(expression, Sum) and expression.axis is None:
        return _inside_sum(expression, factor)
    return [(factor, expression)]


def _inside_sum(total: Sum, factor: float) -> list[Part]:
    """Pull sums and factors out of Σ(…)."""
    inner = total.args[0]
    scaled = scaled_by(inner)
    if scaled is not None:
        return addends(cp.sum(scaled[1]), factor * scaled[0])
    if isinstance(inner, AddExpression) and all(part.shape == inner.shape for part in inner.args):
        return [pair for part in inner.args for pair in addends(cp.sum(part), factor)]
    weighted = weighted_by(inner)
    if weighted is not None and isinstance(weighted[1], AddExpression):
        known = next(part for part in inner.args if part.is_constant())
        parts = [cp.multiply(known, part) for part in weighted[1].args]
        if all(part.shape == inner.shape for part in parts):
            return [pair for part in parts for pair in addends(cp.sum(part), factor)]
    return [(factor, total)]
