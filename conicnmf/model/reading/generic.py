"""Keep what is no sum of squares as it was written: convex in each variable is enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import cvxpy as cp
from cvxpy.atoms.elementwise.log import log
from cvxpy.atoms.elementwise.power import Power

from conicnmf.model.reading.chains import ReadChain
from conicnmf.model.reading.curvature import require_convex, signed
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.residual import read_residual
from conicnmf.model.reading.roles import is_product, product_chain
from conicnmf.model.reading.values import value_of
from conicnmf.types import Array, Data

Bounds = dict[int, tuple[Array, Array]]
"""The bounds on the entries of each variable, by its id."""


@dataclass(frozen=True, eq=False)
class ReadCoupling:
    """An expression in a form that is convex in each variable, and what it compares, if seen."""

    form: cp.Expression
    product: ReadChain | None = None
    V: Data | None = None


def read_coupling(parts: list[Part], bounds: Bounds) -> ReadCoupling:
    """Return the sum of the parts as it is, once it is known to be convex in each variable."""
    total: cp.Expression = sum(part if c == 1 else c * part for c, part in parts)
    form = _multiconvex(total, bounds)
    path = next(_paths(total), None)
    if path is None:
        return ReadCoupling(form)
    chain = product_chain(path[-1])
    V = _data_beside(path)
    V = V / chain.scale if V is not None and chain.fits else None
    chain = replace(chain, scale=1.0)
    if all(ref.flipped for ref in chain.refs):
        chain, V = chain.transposed(), None if V is None else V.T
    return ReadCoupling(form, chain, V)


def _multiconvex(total: cp.Expression, bounds: Bounds) -> cp.Expression:
    """Return the form that is convex in each variable, its long constants named briefly.

    A block hands it variables without attributes, so signs are written into it where they count.
    """
    leaves = [leaf for leaf in total.constants() if leaf.size > 1]
    named = {id(leaf): cp.Constant(leaf.value, name=shown(leaf)) for leaf in leaves}
    form = total.tree_copy(named)
    bare = form.tree_copy({id(v): cp.Variable(v.shape) for v in form.variables()})
    if all(part.is_convex() for _, part in _each_free(bare)):
        return form
    form = form.tree_copy({id(v): signed(v, bounds[v.id]) for v in form.variables()})
    for free, part in _each_free(form):
        require_convex(part, f"the objective as a function of {free}", _hint(form))
    return form


def _hint(form: cp.Expression) -> str:
    """Return where to state divergences that are not convex, if the form looks like one."""
    curved = isinstance(form, (log, Power)) and len(form.variables()) > 1
    if curved:
        return (
            ". Divergences that are not convex, such as Itakura-Saito, are terms: "
            "factorize(V, rank, loss=BetaDivergence(0.5))"
        )
    return next((hint for part in form.args if (hint := _hint(part))), "")


def _each_free(form: cp.Expression) -> Iterator[tuple[cp.Variable, cp.Expression]]:
    """Yield each variable with the form as a function of it alone."""
    for free in form.variables():
        known = {
            id(v): cp.Parameter(v.shape, name=f"fixed {v}")
            for v in form.variables()
            if v.id != free.id
        }
        yield free, form.tree_copy(known)


def _paths(node: cp.Expression) -> Iterator[list[cp.Expression]]:
    """Yield the way down to each matrix product of one variable with another."""
    if is_product(node):
        yield [node]
    for argument in node.args:
        for path in _paths(argument):
            yield [node, *path]


def _data_beside(path: list[cp.Expression]) -> Data | None:
    """Return the constant matrix that the product at the end of the path is compared with."""
    product = path[-1]
    whole = {id(product): cp.Variable(product.shape)}  # whatever it is made of
    for node in reversed(path):
        residual = read_residual(node.tree_copy(whole))
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
