"""Keep a loss as it was written when it is no sum of squares: convex in each factor is enough."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp

from conicnmf.errors import ModelError
from conicnmf.model.losses import Frobenius
from conicnmf.model.reading.curvature import require_convex, signed
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.residual import read_residual
from conicnmf.model.reading.roles import is_product, probed_roles, roles_of
from conicnmf.model.reading.squares import ReadLoss
from conicnmf.model.reading.values import value_of
from conicnmf.types import Array, Data

Bounds = dict[int, tuple[Array, Array]]
"""The bounds on the entries of each variable, by its id."""


def read_generic(parts: list[Part], bounds: Bounds) -> ReadLoss:
    """Return the loss as it is, once V and the roles of the factors are found in it."""
    total: cp.Expression = sum(part if c == 1 else c * part for c, part in parts)
    path = next(_paths(total), None)
    if path is None:
        raise ModelError(
            f"the objective must contain a product W @ H of the two factors, got {shown(total)}; "
            "for example cp.sum_squares(V - W @ H)"
        )
    form = _biconvex(total, bounds)
    roles = roles_of(path[-1]) or probed_roles(path[-1])
    V = _data_beside(path)
    if V is None:
        raise ModelError(
            f"no data was found beside {shown(path[-1])}; a loss compares the product with a "
            "constant matrix V, for example cp.sum(cp.huber(V - W @ H))"
        )
    W, H = roles.W, roles.H
    V = (V.T if roles.flipped else V) / roles.scale
    return ReadLoss(W, H, V, Frobenius(), form=form)


def _biconvex(total: cp.Expression, bounds: Bounds) -> cp.Expression:
    """Return the loss in a form that is convex in each factor, its long constants named briefly.

    A block hands it variables without attributes, so signs are written into it where they count.
    """
    leaves = [leaf for leaf in total.constants() if leaf.size > 1]
    named = {id(leaf): cp.Constant(leaf.value, name=shown(leaf)) for leaf in leaves}
    form = total.tree_copy(named)
    bare = form.tree_copy({id(v): cp.Variable(v.shape) for v in form.variables()})
    if all(part.is_convex() for _, part in _each_fixed(bare)):
        return form
    form = form.tree_copy({id(v): signed(v, bounds[v.id]) for v in form.variables()})
    for free, part in _each_fixed(form):
        require_convex(part, f"the objective as a function of {free}")
    return form


def _each_fixed(form: cp.Expression) -> Iterator[tuple[cp.Variable, cp.Expression]]:
    """Yield each variable with the form as a function of it alone."""
    first, second = form.variables()
    for held, free in ((first, second), (second, first)):
        known = cp.Parameter(held.shape, name=f"fixed {held}")
        yield free, form.tree_copy({id(held): known})


def _paths(node: cp.Expression) -> Iterator[list[cp.Expression]]:
    """Yield the way down to each matrix product of one factor with the other."""
    if is_product(node):
        yield [node]
    for argument in node.args:
        for path in _paths(argument):
            yield [node, *path]


def _data_beside(path: list[cp.Expression]) -> Data | None:
    """Return the constant matrix that the product at the end of the path is compared with."""
    product = path[-1]
    for node in reversed(path):
        residual = read_residual(node)
        if residual is not None and residual.V is not None:
            return residual.V
    for node in reversed(path):
        for constant in _constants(node):
            if constant.shape == product.shape:
                return value_of(constant)
            if constant.shape == product.shape[::-1]:
                return value_of(constant).T
    return None


def _constants(node: cp.Expression) -> Iterator[cp.Expression]:
    """Yield the largest constant parts."""
    if node.is_constant():
        yield node
    else:
        for argument in node.args:
            yield from _constants(argument)
