"""Read gains tr(WᵀAW), self-fits ‖V − WWᵀV‖², and the norms and angles of columns.

CVXPY calls these non-convex, and rightly; here they are what problems with one factor are made of.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.binary_operators import multiply
from cvxpy.atoms.affine.reshape import reshape
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.trace import Trace
from cvxpy.atoms.affine.transpose import transpose
from cvxpy.atoms.quad_form import QuadForm
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.zero import Equality

from conicnmf.model.constraints import NormIn, Orthonormal
from conicnmf.model.operators import Symmetric, as_symmetric
from conicnmf.model.penalties import Gain, SelfFit
from conicnmf.model.reading.chains import ReadChain, ReadRef, is_matmul, read_chain, read_sides
from conicnmf.model.reading.squares import match_squares
from conicnmf.model.reading.values import scalar_of, scaled_by, value_of
from conicnmf.model.terms import Constraint, Penalty
from conicnmf.types import Array


def read_operator_term(coefficient: float, part: cp.Expression) -> Penalty | None:
    """Return coefficient · part as a gain or a self-fit, nothing when it is something else.

    Terms that CVXPY knows to be convex are left to the penalties.
    """
    if part.is_convex() if coefficient > 0 else part.is_concave():
        return None
    variable = part.variables()[0]
    form = _quadratic_form(part)
    if form is not None:
        gain = Gain(Symmetric(-2 * coefficient * (form + form.T) / 2))
        return gain if _same(gain, coefficient, part, variable) else None
    own = _self_fit(part)
    if own is not None and coefficient == 1:
        return own if _same(own, coefficient, part, variable) else None
    return None


def _quadratic_form(part: cp.Expression) -> Array | None:
    """Return M with part = tr(WᵀMW), for any of its spellings."""
    if isinstance(part, QuadForm):
        chain = read_chain(part.args[0])
        M = value_of(part.args[1])
        return None if chain is None else _sandwiched(chain, np.asarray(M, dtype=float), chain)
    squares = match_squares(part)
    if squares is not None and squares.weights is None:
        argument = squares.argument
        while isinstance(argument, reshape):  # a sum of squares does not see the order
            argument = argument.args[0]
        chain = read_chain(argument)
        if chain is not None:
            form = _sandwiched(chain, None, chain)
            return None if form is None else squares.scale * form
    if isinstance(part, Sum) and part.axis is None and isinstance(part.args[0], multiply):
        left, right = (read_chain(side) for side in part.args[0].args)
        if left is not None and right is not None:
            return _sandwiched(left, None, right)
    if isinstance(part, Trace) and is_matmul(part.args[0]):
        left, right = (read_chain(side) for side in part.args[0].args)
        if left is not None and right is not None:
            return _sandwiched(left.transposed(), None, right)
    if part.is_scalar() and is_matmul(part):  # wᵀ M w of a column w
        left, right = read_sides(part)
        if left is not None and right is not None:
            return _sandwiched(left.transposed(), None, right)
    return None


def _sandwiched(left: ReadChain, M: Array | None, right: ReadChain) -> Array | None:
    """Return the matrix of Σ (left) ∘ (M right) where both are constants times W."""
    first, second = (_constant_left(chain) for chain in (left, right))
    if first is None and second is None and M is None:  # both written transposed
        first, second = (_constant_left(chain.transposed()) for chain in (left, right))
    if first is None or second is None:
        return None
    middle = second if M is None else M @ second
    return np.asarray(first.T @ middle) if first.shape[0] == middle.shape[0] else None


def _constant_left(chain: ReadChain) -> Array | None:
    """Return C where the chain is C W with W as the user holds it."""
    refs = chain.refs
    if len(refs) != 1 or refs[0].flipped or refs[0].mask is not None:
        return None
    if chain.factors[-1] is not refs[0] or len(chain.factors) > 2:
        return None
    rows = refs[0].variable.shape[0]
    C = chain.factors[0] if len(chain.factors) == 2 else np.eye(rows)
    assert not isinstance(C, ReadRef)
    return chain.scale * C


def _self_fit(part: cp.Expression) -> SelfFit | None:
    """Return ‖V − W Wᵀ V‖², whichever way round it is written."""
    squares = match_squares(part)
    if squares is None or squares.weights is not None or squares.scale != 1:
        return None
    constants = [c for c in squares.argument.constants() if c.ndim == 2]
    for constant in constants:
        V = value_of(constant)
        if V.shape == squares.argument.shape:
            return SelfFit(V)
    return None


def _same(penalty: Penalty, coefficient: float, part: cp.Expression, variable: cp.Variable) -> bool:
    """Whether a reading has the value of the expression at random points."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        W = rng.standard_normal(variable.shape)
        at = part.tree_copy({id(variable): cp.Constant(W)})
        stated = coefficient * float(np.asarray(at.value).item())
        if not np.isclose(penalty.value(W.T), stated, rtol=1e-8, atol=1e-12 * abs(stated)):
            return False
    return True


def read_scale(constraint: cp.Constraint, variable: cp.Variable) -> Constraint | None:
    """Return WᵀW = I, wᵀBw = 1 or wᵀBw ≤ 1 where a constraint says that, else nothing."""
    if not isinstance(constraint, (Equality, Inequality)):
        return None
    for first, second in (constraint.args, constraint.args[::-1]):
        if not second.is_constant() or first.is_constant():
            continue
        if isinstance(constraint, Equality) and _is_gram(first, variable):
            eye = np.asarray(value_of(second))
            return Orthonormal() if np.array_equal(eye, np.eye(len(eye))) else None
        upper = isinstance(constraint, Inequality) and first is constraint.args[0]
        level = scalar_of(second)
        if level is not None and level > 0 and (upper or isinstance(constraint, Equality)):
            return _norm(first, level, equal=isinstance(constraint, Equality))
    return None


def _is_gram(expression: cp.Expression, variable: cp.Variable) -> bool:
    """Whether an expression is WᵀW."""
    if not is_matmul(expression):
        return False
    left, right = expression.args
    return (
        isinstance(left, transpose)
        and isinstance(left.args[0], cp.Variable)
        and isinstance(right, cp.Variable)
        and left.args[0].id == right.id == variable.id
    )


def _norm(expression: cp.Expression, level: float, equal: bool) -> Constraint | None:
    """Return the norm of a single column."""
    scaled = scaled_by(expression)
    if scaled is not None and scaled[0] > 0:
        return _norm(scaled[1], level / scaled[0], equal)
    variables = expression.variables()
    if len(variables) != 1 or variables[0].ndim != 2 or variables[0].shape[1] != 1:
        return None
    form = _quadratic_form(expression)
    if form is None:
        return None
    try:
        return NormIn(Symmetric(as_symmetric((form + form.T) / 2, "B")), equal, level)
    except ValueError:
        return None
