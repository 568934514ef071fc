"""Read products such as W @ H, D @ W @ H, W @ S @ H.T, cp.multiply(M, W) @ H and b @ ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
from cvxpy.atoms.affine.broadcast_to import broadcast_to
from cvxpy.atoms.affine.index import special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.reshape import reshape
from cvxpy.atoms.affine.transpose import transpose

from conicnmf.model.reading.values import scaled_by, value_of, weighted_by
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class ReadRef:
    """A variable in a product: transposed when `flipped`, times `mask` entry by entry."""

    variable: cp.Variable
    flipped: bool = False
    mask: Array | None = None

    def transposed(self) -> ReadRef:
        """Return what stands here in the transposed product."""
        return replace(
            self, flipped=not self.flipped, mask=None if self.mask is None else self.mask.T
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape in the product."""
        rows, columns = self.variable.shape
        return (columns, rows) if self.flipped else (rows, columns)


@dataclass(frozen=True, eq=False)
class ReadChain:
    """scale times the product of variables, each once, and constant matrices."""

    factors: tuple[ReadRef | Array, ...]
    scale: float = 1.0

    def times(self, scale: float) -> ReadChain:
        """Return a multiple."""
        return replace(self, scale=scale * self.scale)

    def transposed(self) -> ReadChain:
        """Return the transposed product."""
        turned = tuple(
            factor.transposed() if isinstance(factor, ReadRef) else factor.T
            for factor in reversed(self.factors)
        )
        return ReadChain(turned, self.scale)

    @property
    def refs(self) -> list[ReadRef]:
        """The variables from left to right."""
        return [factor for factor in self.factors if isinstance(factor, ReadRef)]

    @property
    def fits(self) -> bool:
        """Whether neighbors have the same inner dimension."""
        pairs = zip(self.factors, self.factors[1:], strict=False)
        return all(left.shape[1] == right.shape[0] for left, right in pairs)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the product."""
        return self.factors[0].shape[0], self.factors[-1].shape[1]


def is_matmul(expression: cp.Expression) -> bool:
    """Whether the expression is a matrix product, not an elementwise one."""
    return isinstance(expression, MulExpression) and not isinstance(expression, multiply)


def read_chain(expression: cp.Expression) -> ReadChain | None:
    """Return the product that an expression states, nothing when it is something else.

    A vector is read as a column, a number as a matrix of one entry.

    Examples
    --------
    >>> import cvxpy as cp
    >>> W, H = cp.Variable((5, 2), name="W"), cp.Variable((2, 3), name="H")
    >>> chain = read_chain(H.T @ (2 * W.T))
    >>> [(ref.variable.name(), ref.flipped) for ref in chain.refs], chain.scale
    ([('H', True), ('W', True)], 2.0)
    """
    if isinstance(expression, cp.Variable):
        return ReadChain((ReadRef(expression),))
    if expression.is_constant():
        return _constant(expression)
    # A matrix of one entry is a known factor like any other, and no number.
    scaled = None if is_matmul(expression) else scaled_by(expression)
    if scaled is not None:
        inner = read_chain(scaled[1])
        return None if inner is None else inner.times(scaled[0])
    if isinstance(expression, transpose):
        inner = read_chain(expression.args[0])
        return None if inner is None else inner.transposed()
    if isinstance(expression, multiply):
        return _masked(expression)
    if isinstance(expression, (Promote, broadcast_to)):
        return _repeated(expression)
    if keeps_order(expression):
        return _reshaped(expression)
    return _product(expression) if is_matmul(expression) else None


def _constant(expression: cp.Expression) -> ReadChain | None:
    value = value_of(expression)
    dense = value.toarray() if sp.issparse(value) else value
    matrix = np.asarray(dense, dtype=float)
    return ReadChain((matrix if expression.ndim == 2 else matrix.reshape(-1, 1),))


def _masked(expression: cp.Expression) -> ReadChain | None:
    """Return M ∘ X for a single variable X; a masked product is no product."""
    weighted = weighted_by(expression)
    inner = None if weighted is None else read_chain(weighted[1])
    if weighted is None or inner is None or len(inner.factors) != 1 or sp.issparse(weighted[0]):
        return None
    (ref,) = inner.factors
    if not isinstance(ref, ReadRef):
        return None
    mask = np.asarray(weighted[0], dtype=float)
    total = mask if ref.mask is None else mask * ref.mask
    return ReadChain((replace(ref, mask=total),), inner.scale)


def keeps_order(expression: cp.Expression) -> bool:
    """Whether an expression has the entries of another, one after the other in a new shape."""
    if isinstance(expression, reshape):
        return True
    inner = expression.args[0] if isinstance(expression, special_index) else None
    if inner is None or inner.ndim != 1 or inner.size != expression.size:
        return False
    entries = np.arange(inner.size)
    return bool(np.array_equal(entries[expression.key].ravel(), entries))  # x[:, None]


def _reshaped(expression: cp.Expression) -> ReadChain | None:
    """Read through a change of shape that leaves a vector a vector."""
    inner = read_chain(expression.args[0])
    thin = max(expression.shape, default=1) == expression.size
    if inner is None or not thin or 1 not in inner.shape:
        return None
    wanted = expression.shape if expression.ndim == 2 else (expression.size, 1)
    return inner if inner.shape == wanted else inner.transposed()


def _repeated(expression: cp.Expression) -> ReadChain | None:
    """Read a number, or a vector as a row, that is repeated over a matrix."""
    inner = read_chain(expression.args[0])
    if inner is None or not inner.refs or expression.ndim != 2:
        return None
    rows, columns = expression.shape
    row = inner.transposed() if expression.args[0].ndim == 1 else inner
    factors = list(row.factors)
    if row.shape[0] != rows:
        factors.insert(0, np.ones((rows, 1)))
    if row.shape[1] != columns:
        factors.append(np.ones((1, columns)))
    return ReadChain(tuple(factors), inner.scale)


def read_sides(product: cp.Expression) -> tuple[ReadChain | None, ReadChain | None]:
    """Return both sides of a matrix product; a vector on its left is a row there."""
    left, right = (read_chain(side) for side in product.args)
    if left is not None and product.args[0].ndim == 1:
        left = left.transposed()
    return left, right


def _product(expression: cp.Expression) -> ReadChain | None:
    left, right = read_sides(expression)
    if left is None or right is None or left.shape[1] != right.shape[0]:
        return None
    factors = [*left.factors, *right.factors]
    joined: list[ReadRef | Array] = []
    for factor in factors:
        if joined and not isinstance(factor, ReadRef) and not isinstance(joined[-1], ReadRef):
            joined[-1] = joined[-1] @ factor
        else:
            joined.append(factor)
    chain = ReadChain(tuple(joined), left.scale * right.scale)
    if expression.ndim == 1 and expression.args[0].ndim == 1:  # x @ A is a vector: a column again
        chain = chain.transposed()
    names = [ref.variable.id for ref in chain.refs]
    return chain if len(set(names)) == len(names) else None
