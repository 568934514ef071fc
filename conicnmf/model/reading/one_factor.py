"""Read gains tr(WᵀAW), self-fits ‖V − WWᵀV‖², and the norms and angles of columns.

CVXPY calls these non-convex, and rightly; here they are what problems with one factor are made of.
"""

from __future__ import annotations

from dataclasses import dataclass

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

from conicnmf.errors import ModelError
from conicnmf.model.constraints import NormIn, Orthonormal
from conicnmf.model.operators import Symmetric, as_symmetric
from conicnmf.model.penalties import Gain, GraphLaplacian, SelfFit
from conicnmf.model.reading.chains import ReadChain, ReadRef, is_matmul, read_chain, read_sides
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.squares import match_squares
from conicnmf.model.reading.values import scalar_of, scaled_by, value_of
from conicnmf.model.terms import Constraint, Penalty, Pieces
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Form:
    """Σ xᵀMx over the columns x of the user's variable (axis 0), or over its rows (axis 1)."""

    M: Array
    axis: int

    def times(self, factor: float) -> Form:
        """Return a multiple."""
        return Form(factor * self.M, self.axis)

    def along(self, axis: int, shape: tuple[int, int]) -> Form:
        """Return the same over the other pieces of a variable, where it says c‖X‖²."""
        c = self.M[0, 0]
        plain = self.axis != axis and np.array_equal(self.M, c * np.eye(len(self.M)))
        return Form(c * np.eye(shape[axis]), axis) if plain else self


def read_operator_term(
    coefficient: float, part: cp.Expression, component_axis: int = 0, alone: bool = True
) -> Penalty | None:
    """Return coefficient · part as a quadratic of components or a self-fit, else nothing.

    Terms that CVXPY knows to be convex are left to the penalties. `alone` says that there is no other
    variable: then the term is what a problem in one factor is about.
    """
    if part.is_convex() if coefficient > 0 else part.is_concave():
        return None
    variable = part.variables()[0]
    found: Penalty | None = None
    form = quadratic_form(part)
    if form is not None:
        own = form.times(coefficient).along(component_axis, variable.shape)
        found = _quadratic(own, component_axis, alone, part)
    elif coefficient == 1 and (component_axis == 0 or not alone):
        found = _self_fit(part)
    if found is None or not _same(found, coefficient, part, variable, component_axis):
        return None
    if form is None and not alone:
        raise ModelError(
            f"{shown(part)} appears with other variables, but ‖V − WWᵀV‖² is supported only if W "
            "is the "
            "only one; write ‖V − WH‖² with a separate H, or solve it alone, see "
            "cn.families.one_factor.ProjectiveNMF"
        )
    return found


def _quadratic(form: Form, component_axis: int, alone: bool, part: cp.Expression) -> Penalty:
    """Return a convex quadratic as a graph's, any other one of components as a gain."""
    M = (form.M + form.M.T) / 2
    each: Pieces = "component" if form.axis == component_axis else "sample"
    if not alone and Symmetric(M).sign == 1:
        return GraphLaplacian(1.0, M, each)
    if each == "sample":
        raise ModelError(
            f"a term on one factor must be convex, or a quadratic of its components, but {shown(part)} "
            "is neither: it mixes components; make its matrix positive semi-definite, or let it weigh "
            "the entries of each component, as tr(WᵀAW) does"
        )
    return Gain(Symmetric(-2 * M))


def quadratic_form(part: cp.Expression) -> Form | None:
    """Return M with part = tr(WᵀMW) or tr(WMWᵀ), for any of its spellings."""
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
            return None if form is None else form.times(squares.scale)
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


def _sandwiched(left: ReadChain, M: Array | None, right: ReadChain) -> Form | None:
    """Return the form of Σ (left) ∘ (M right) where both are constants times the same W or Wᵀ."""
    pairs = [(left, right)]
    if M is None:
        pairs.append((left.transposed(), right.transposed()))
    for pair in pairs:
        first, second = (_constant_left(chain) for chain in pair)
        if first is None or second is None or first[1] != second[1]:
            continue
        middle = second[0] if M is None else M @ second[0]
        if first[0].shape[0] == middle.shape[0]:
            return Form(np.asarray(first[0].T @ middle), int(first[1]))
    return None


def _constant_left(chain: ReadChain) -> tuple[Array, bool] | None:
    """Return C where the chain is C W with W as the user holds it, or turned, and which."""
    refs = chain.refs
    if len(refs) != 1 or refs[0].mask is not None:
        return None
    if chain.factors[-1] is not refs[0] or len(chain.factors) > 2:
        return None
    C = chain.factors[0] if len(chain.factors) == 2 else np.eye(refs[0].shape[0])
    assert not isinstance(C, ReadRef)
    return chain.scale * C, refs[0].flipped


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


def _same(
    penalty: Penalty,
    coefficient: float,
    part: cp.Expression,
    variable: cp.Variable,
    component_axis: int,
) -> bool:
    """Whether a reading has the value of the expression at random points."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        W = rng.standard_normal(variable.shape)
        at = part.tree_copy({id(variable): cp.Constant(W)})
        stated = coefficient * float(np.asarray(at.value).item())
        B = W if component_axis == 1 else np.ascontiguousarray(W.T)
        if not np.isclose(penalty.value(B), stated, rtol=1e-8, atol=1e-12 * abs(stated)):
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
    form = quadratic_form(expression)
    if form is None or form.axis == 1:
        return None
    try:
        return NormIn(Symmetric(as_symmetric((form.M + form.M.T) / 2, "B")), equal, level)
    except ValueError:
        return None
