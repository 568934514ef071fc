"""Which structured penalties an expression may be, from its atoms; its values decide.

Values alone would not tell: a Huber function equals a sum of squares for all small entries. But two
quadratics that agree at random points are the same, and so are two sums of magnitudes or of norms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.abs import abs as elementwise_abs
from cvxpy.atoms.norm1 import norm1
from cvxpy.atoms.norm_nuc import normNuc
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.atoms.quad_form import QuadForm

from conicnmf.errors import InputError
from conicnmf.model.penalties import (
    L1,
    L2,
    L21,
    GraphLaplacian,
    GroupLasso,
    Nuclear,
    Smooth,
    TotalVariation,
)
from conicnmf.model.reading.one_factor import quadratic_form
from conicnmf.model.reading.squares import match_squares
from conicnmf.model.reading.values import value_of
from conicnmf.model.terms import Penalty, Pieces
from conicnmf.types import Array

_ORDERS = (1, 2, 3, 4)
_ALIKE = 1e-9
"""Norms that differ by a smaller part are those of one group."""
_EACH: tuple[Pieces, ...] = ("component", "sample")


def candidates(part: cp.Expression, component_axis: int) -> Iterator[Penalty]:
    """Yield the penalties of weight one that a part may be a multiple of.

    Examples
    --------
    >>> H = cp.Variable((2, 4), nonneg=True)
    >>> [type(found).__name__ for found in candidates(cp.norm1(H), 1)]
    ['L1', 'TotalVariation', 'TotalVariation']
    """
    if _made_of(part, _is_magnitude):
        yield L1(1.0)
        yield from (TotalVariation(1.0, each) for each in _EACH)
    elif _made_of(part, _is_square):
        yield L2(1.0)
        yield from (Smooth(1.0, order, each) for order in _ORDERS for each in _EACH)
        yield from _graph(part, component_axis)
    elif _made_of(part, _is_norm):
        yield from (L21(1.0, each) for each in _EACH)
        yield from _groups(part, component_axis)
    elif _made_of(part, lambda node: isinstance(node, normNuc)):
        yield Nuclear(1.0)


def _graph(part: cp.Expression, component_axis: int) -> Iterator[GraphLaplacian]:
    """Yield the quadratics of components or samples that one of the squares is made of."""
    shape = part.variables()[0].shape
    for M, axis in _matrices(part):
        each: Pieces = "component" if axis == component_axis else "sample"
        if len(M) == shape[axis]:
            with suppress(InputError):  # not convex by more than rounding: it is kept as it is
                yield GraphLaplacian(1.0, (M + M.T) / 2, each)


def _groups(part: cp.Expression, component_axis: int) -> Iterator[GroupLasso]:
    """Yield sums of norms of groups, the same groups in every component or in every sample.

    The gradient of ‖x‖ is x/‖x‖: at a random point its ratio to the point tells the groups apart.
    """
    own = part.variables()[0]
    X = cp.Variable(own.shape)
    copy = part.tree_copy({id(own): X})
    X.value = 1.0 + np.random.default_rng(0).random(own.shape)
    gradient = (copy.grad or {}).get(X)
    if gradient is None or len(own.shape) != 2:
        return
    slopes = np.reshape(sp.csr_array(gradient).toarray(), own.shape, order="F")
    if not (slopes > 0).all():  # an entry is in no group
        return
    lengths = X.value / slopes
    for each in _EACH:
        axis = component_axis if each == "component" else 1 - component_axis
        first = np.take(lengths, 0, axis=1 - axis)
        order = np.argsort(first, kind="stable")
        new = np.diff(first[order], prepend=first[order][0]) > _ALIKE * first[order]
        yield GroupLasso(1.0, np.cumsum(new)[np.argsort(order)], each)


def _matrices(part: cp.Expression) -> Iterator[tuple[Array, int]]:
    """Yield M of the first square xᵀMx, and the axis along which x may run."""
    for node in _nodes(part):
        form = quadratic_form(node)
        if form is not None:
            yield form.M, form.axis
            return
        if isinstance(node, QuadForm):  # of a column or a row that is cut out
            M = np.asarray(value_of(node.args[1]), dtype=float)
            yield from ((M, axis) for axis in (0, 1))
            return


def _nodes(node: cp.Expression) -> Iterator[cp.Expression]:
    yield node
    for part in node.args:
        yield from _nodes(part)


def _made_of(node: cp.Expression, known: Callable[[cp.Expression], bool]) -> bool:
    """Whether an expression is affine in known functions of affine expressions."""
    if node.is_affine() or known(node):
        return True
    return isinstance(node, AffAtom) and all(_made_of(part, known) for part in node.args)


def _is_magnitude(node: cp.Expression) -> bool:
    return isinstance(node, (elementwise_abs, norm1)) and bool(node.args[0].is_affine())


def _is_square(node: cp.Expression) -> bool:
    if isinstance(node, QuadForm):
        return bool(node.args[0].is_affine())
    squares = match_squares(node)
    return squares is not None and bool(squares.argument.is_affine())


def _is_norm(node: cp.Expression) -> bool:
    """Whether a node is a Euclidean norm, or a sum of magnitudes of such."""
    if isinstance(node, Pnorm) and np.isclose(float(node.p), 2):
        return bool(node.args[0].is_affine())
    return isinstance(node, (elementwise_abs, norm1)) and _made_of(node.args[0], _is_norm)
