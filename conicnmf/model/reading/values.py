"""Read constants and scalar factors out of CVXPY expressions; sparse data stay sparse.

CVXPY folds constants by dense arithmetic: the value of ``V.T`` or ``2 * V`` for sparse V is a dense
matrix. So where a leaf is sparse the usual operations are carried out here instead.
"""

from __future__ import annotations

from collections.abc import Callable
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
from cvxpy.atoms.quad_over_lin import quad_over_lin

from conicnmf.errors import InputError
from conicnmf.incoming import check_sparse
from conicnmf.types import Data, stored


def value_of(expression: cp.Expression) -> Data:
    """Return the value of a constant expression, as a CSR array when it is sparse.

    A sparse vector is returned as a matrix of one row.

    Examples
    --------
    >>> import cvxpy as cp, scipy.sparse as sp
    >>> type(value_of(-2 * cp.Constant(sp.eye_array(3)).T)).__name__
    'csr_array'
    """
    if isinstance(expression, cp.Constant):
        value = expression.value
        return sp.csr_array(value) if sp.issparse(value) else np.asarray(value)
    if any(sp.issparse(leaf.value) for leaf in expression.constants()):
        for kind, rule in _SPARSE.items():
            if isinstance(expression, kind):
                found = rule(expression, *map(_number_or_value, expression.args))
                if found is not None:
                    return sp.csr_array(found) if sp.issparse(found) else np.asarray(found)
    return np.asarray(expression.value)


def require_numbers(node: cp.Expression | cp.Constraint) -> None:
    """Raise unless all constants are real and finite; bounds of constraints may be infinite."""
    for leaf in node.constants():
        if sp.issparse(leaf.value):
            check_sparse(leaf.value, "a constant")
        entries = stored(leaf.value)
        if np.iscomplexobj(entries):
            raise InputError(
                f"a model holds real numbers, got a complex constant of shape {leaf.shape}; "
                "take its real part or its magnitude"
            )
        free = isinstance(node, cp.Constraint)
        bad = int(np.sum(np.isnan(entries) if free else ~np.isfinite(entries)))
        if bad:
            raise InputError(
                f"the constants of a model must be finite, got {bad} NaN or infinite entries in one "
                f"of shape {leaf.shape}; set missing data to 0 and leave them out of the loss with a "
                "mask of zeros and ones, cp.multiply(M, V - W @ H)"
            )


def scalar_of(expression: cp.Expression) -> float | None:
    """Return the number a constant expression stands for, or nothing when there is no such."""
    if isinstance(expression, Promote):
        return scalar_of(expression.args[0])
    if expression.is_scalar() and expression.is_constant():
        return float(value_of(expression).item())
    return None


def scaled_by(expression: cp.Expression) -> tuple[float, cp.Expression] | None:
    """Return (c, x) when the expression is −x, c·x, x·c or x/c with a number c, else nothing."""
    if isinstance(expression, NegExpression):
        return -1.0, expression.args[0]
    if isinstance(expression, DivExpression):
        divisor = scalar_of(expression.args[1])
        return (1 / divisor, expression.args[0]) if divisor else None
    if isinstance(expression, MulExpression):
        for known, other in (expression.args, expression.args[::-1]):
            scalar = scalar_of(known)
            if scalar is not None and not other.is_constant() and other.size == expression.size:
                return scalar, other
    return None


def weighted_by(expression: cp.Expression) -> tuple[Data, cp.Expression] | None:
    """Return (M, x) when the expression is the elementwise product M ∘ x with a constant M."""
    if isinstance(expression, multiply):
        for known, other in (expression.args, expression.args[::-1]):
            if known.is_constant() and known.shape == other.shape:
                return value_of(known), other
    return None


def _number_or_value(expression: cp.Expression) -> Data:
    return value_of(expression.args[0] if isinstance(expression, Promote) else expression)


def exponent_of(power: Power) -> float:
    """Return the exponent of a power."""
    return float(getattr(power.p, "value", power.p))


def _add(_: cp.Expression, *parts: Data) -> Data | None:
    # A number added to sparse data fills them in, and CVXPY can do that as well.
    return sum(parts[1:], start=parts[0]) if all(part.ndim for part in parts) else None


def _reshape(node: reshape, x: Data) -> Data:
    # A sparse column would take memory for each of its rows.
    shape = (1, node.size) if node.size == max(node.shape) else node.shape
    return x.reshape(shape, order=node.order)


def _product(_: cp.Expression, left: Data, right: Data) -> Data:
    # The elementwise product of a sparse and a dense array is sparse in SciPy, too.
    return left * right


def _squares(expression: quad_over_lin, x: Data, y: Data) -> Data | None:
    return x.multiply(x).sum() / y.item() if expression.axis is None else None


def _sum(expression: Sum, x: Data) -> Data | None:
    return x.sum() if expression.axis is None else None


_SPARSE: dict[type[cp.Expression], Callable[..., Any]] = {
    NegExpression: lambda _, x: -x,
    AddExpression: _add,
    transpose: lambda _, x: x.T,
    reshape: _reshape,
    multiply: _product,  # before its base class
    MulExpression: lambda _, left, right: (
        left @ right if left.ndim and right.ndim else left * right
    ),
    DivExpression: lambda _, x, y: x / y,
    Power: lambda node, x: x.power(exponent_of(node)) if exponent_of(node) > 0 else None,
    quad_over_lin: _squares,
    Sum: _sum,
}
