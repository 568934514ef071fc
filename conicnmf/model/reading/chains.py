"""Read products such as W @ H, D @ W @ H, W @ S @ H.T, cp.multiply(M, W) @ H and b @ ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
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

    Examples
    --------
    >>> import cvxpy as cp
    >>> W, H = cp.Variable((5, 2), name="W"), cp.Variable((2, 3), name="H")
    >>> chain = read_chain(H.T @ (2 * W.T))
    >>> [(ref.variable.name(), ref.flipped) for ref in chain.refs], chain.scale
    ([('H', True), ('W', True)], 2.0)
    """
    if isinstance(expression, cp.Variable):
        return ReadChain((ReadRef(expression),)) if expression.ndim == 2 else None
    if expression.is_constant():
        return _constant(expression)
    scaled = scaled_by(expression)
    if scaled is not None:
        inner = read_chain(scaled[1])
        return None if inner is None else inner.times(scaled[0])
    if isinstance(expression, transpose):
        inner = read_chain(expression.args[0])
        return None if inner is None else inner.transposed()
    if isinstance(expression, multiply):
        return _masked(expression)
    return _product(expression) if is_matmul(expression) else None


def _constant(expression: cp.Expression) -> ReadChain | None:
    value = value_of(expression)
    dense = value.toarray() if sp.issparse(value) else value
    return ReadChain((np.asarray(dense, dtype=float),)) if dense.ndim == 2 else None


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


def _product(expression: cp.Expression) -> ReadChain | None:
    left, right = (read_chain(side) for side in expression.args)
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
    names = [ref.variable.id for ref in chain.refs]
    return chain if len(set(names)) == len(names) else None
