"""Read a residual such as V − W H, or some of its entries, weighted, transposed or as a vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import multiply
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.reshape import reshape
from cvxpy.atoms.affine.transpose import transpose

from conicnmf.model.reading.chains import ReadChain, read_chain
from conicnmf.model.reading.values import scaled_by, value_of, weighted_by
from conicnmf.types import Data


@dataclass(frozen=True, eq=False)
class Residual:
    """The matrix scale · weights ∘ (Σ products − V) + rest, all in the shape of the products.

    No weights are ones, no V and no rest are zeros; `rest` is what stands where weights are zero.
    `undo` brings a constant from where it was written into the shape of the products.
    """

    products: tuple[ReadChain, ...]
    scale: float = 1.0
    weights: Data | None = None
    V: Data | None = None
    rest: Data | None = None
    undo: Callable[[Data], Data] | None = None

    def times(self, factor: float) -> Residual:
        """Return a multiple."""
        return replace(self, scale=factor * self.scale, rest=_times(self.rest, factor))

    def undone(self, constant: Data) -> Data:
        """Return a constant of the shape that was written in the shape of the products."""
        return constant if self.undo is None else self.undo(constant)

    def joined(self, other: Residual) -> Residual | None:
        """Return the sum of two residuals in one shape, nothing where weights keep them apart."""
        if self.weights is not None or other.weights is not None or self.undo is not other.undo:
            return None
        products = [chain.times(r.scale) for r in (self, other) for chain in r.products]
        V = _plus(_times(self.V, self.scale), _times(other.V, other.scale))
        rest = _plus(self.rest, other.rest)
        return Residual(tuple(products), 1.0, None, V, rest, self.undo)

    def weighted(self, weights: Data) -> Residual:
        """Return the elementwise product with weights."""
        own = self.undone(weights)
        total = own if self.weights is None else as_csr(self.weights * own)
        return replace(self, weights=total, rest=_times(self.rest, own))

    def plus(self, constant: Data) -> Residual:
        """Return the sum with a constant, which makes V of it where the weights allow."""
        own = self.undone(constant)
        if self.weights is None:
            moved, rest = own / -self.scale, None
        else:
            observed = self.weights != 0
            moved = as_csr(own * inverse(-self.scale * self.weights))
            rest = as_csr(own - own * observed)
            rest = rest if (abs(rest)).max() > 0 else None
        return replace(self, V=_plus(self.V, moved), rest=_plus(self.rest, rest))


def read_residual(expression: cp.Expression) -> Residual | None:
    """Return the residual an expression states, or nothing when it is of another form.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> W, H = cp.Variable((2, 1)), cp.Variable((1, 2))
    >>> found = read_residual(cp.vec(np.ones((2, 2)) - 2 * (W @ H), order="F"))
    >>> found.scale, found.V.tolist()
    (-2.0, [[0.5, 0.5], [0.5, 0.5]])
    """
    chain = None if isinstance(expression, multiply) else read_chain(expression)
    if chain is not None and chain.refs:
        undo = None if expression.ndim == 2 else _as_column
        return Residual((replace(chain, scale=1.0),), chain.scale, undo=undo)
    scaled = scaled_by(expression)
    if scaled is not None:
        inner = read_residual(scaled[1]) if scaled[0] else None
        return None if inner is None else inner.times(scaled[0])
    weighted = weighted_by(expression)
    if weighted is not None:
        inner = read_residual(weighted[1])
        return None if inner is None else inner.weighted(weighted[0])
    if isinstance(expression, (transpose, reshape)):
        return _reordered(expression)
    if isinstance(expression, (index, special_index)):
        return _selected(expression)
    if isinstance(expression, AddExpression):
        return _shifted(expression)
    return None


def _selected(expression: index | special_index) -> Residual | None:
    """Read some entries, each taken once: the others have no weight."""
    inner, shape = read_residual(expression.args[0]), expression.args[0].shape
    places = expression.numeric([np.arange(np.prod(shape)).reshape(shape)])
    if inner is None or np.unique(places).size < places.size:
        return None
    before = inner.undone

    def undo(X: Data) -> Data:
        everywhere = np.zeros(shape)
        everywhere.flat[places] = (X.toarray() if sp.issparse(X) else X).reshape(places.shape)
        return before(everywhere)

    return replace(inner, undo=undo).weighted(np.ones(places.shape))


def _reordered(expression: transpose | reshape) -> Residual | None:
    """Read through a new order of the entries, which a sum of squares does not see."""
    inner = read_residual(expression.args[0])
    if inner is None:
        return None
    before, shape = inner.undone, expression.args[0].shape
    if isinstance(expression, reshape):
        order = expression.order
        return replace(inner, undo=lambda X: before(X.reshape(shape, order=order)))
    return replace(inner, undo=lambda X: before(as_csr(X.T)))


def _shifted(expression: AddExpression) -> Residual | None:
    inner: Residual | None = None
    for part in expression.args:
        if not part.is_constant():
            found = read_residual(part)
            inner = found if inner is None or found is None else inner.joined(found)
            if inner is None:
                return None
    for part in expression.args:
        if inner is not None and part.is_constant():
            constant = value_of(part)
            if np.prod(constant.shape) != expression.size:
                return None
            inner = inner.plus(constant)
    return inner


def _as_column(X: Data) -> Data:
    return X.reshape((-1, 1))


def as_csr(X: Data) -> Data:
    """Return sparse data by rows, and dense ones as they are."""
    return sp.csr_array(X) if sp.issparse(X) else X


def _times(X: Data | None, factor: Data | float) -> Data | None:
    return None if X is None else as_csr(X * factor)


def _plus(X: Data | None, Y: Data | None) -> Data | None:
    if X is None or Y is None:
        return Y if X is None else X
    return as_csr(X + Y)


def inverse(weights: Data) -> Data:
    """Return 1/weights, zero where they are zero."""
    if sp.issparse(weights):
        inverse = weights.copy()
        inverse.eliminate_zeros()
        inverse.data = 1 / inverse.data
        return inverse
    return np.divide(1.0, weights, out=np.zeros(weights.shape), where=weights != 0)
