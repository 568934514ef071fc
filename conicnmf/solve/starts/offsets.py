"""Where offsets begin, and the data without them as an operator, so that sparse data stay sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.model.addends import Chain, Fit, Ref
from conicnmf.model.losses.frobenius import row_chunks
from conicnmf.model.problem import Problem
from conicnmf.solve.starts.missing import known_data
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True, eq=False)
class Centered:
    """V − b 1ᵀ − 1 c, known by its products.

    Examples
    --------
    >>> rest = Centered(np.eye(2), np.ones((2, 1)), np.zeros((1, 2)))
    >>> rest @ np.eye(2)
    array([[ 0., -1.],
           [-1.,  0.]])
    """

    V: Data
    b: Array
    c: Array

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of V."""
        rows, columns = self.V.shape
        return rows, columns

    @property
    def T(self) -> Centered:
        """The transposed rest."""
        return Centered(self.V.T, self.c.T, self.b.T)

    def __matmul__(self, X: Array) -> Array:
        """Return the product with a matrix."""
        ones = np.ones((len(self.b), 1))
        return np.asarray(self.V @ X - self.b @ X.sum(axis=0, keepdims=True) - ones @ (self.c @ X))

    def __truediv__(self, number: float) -> Centered:
        """Return the rest divided by a number."""
        return Centered(self.V / number, self.b / number, self.c / number)

    def mean(self) -> float:
        """Return the mean of all entries."""
        return float(self.V.mean() - self.b.mean() - self.c.mean())

    def column_squares(self) -> Array:
        """Return the squared norm of each column, from products."""
        cross = 2 * np.asarray(self.V.T @ self.b).ravel()
        sums = np.asarray(self.V.T @ np.ones((len(self.b), 1))).ravel() - self.b.sum()
        c = self.c.ravel()
        squares = column_squares(self.V) - cross + float(np.sum(self.b**2))
        return np.asarray(np.maximum(squares - 2 * c * sums + len(self.b) * c**2, 0.0))


def column_squares(V: Any) -> Array:
    """Return the squared norm of each column of data, or of an operator that knows them.

    Examples
    --------
    >>> column_squares(np.array([[3.0, 1.0], [4.0, 0.0]]))
    array([25.,  1.])
    """
    if hasattr(V, "column_squares"):
        own: Array = V.column_squares()
        return own
    if sp.issparse(V):
        return np.asarray(V.multiply(V).sum(axis=0), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->j", V, V, dtype=float))


def offsets_of(problem: Problem, fit: Fit) -> tuple[Factors, Any]:
    """Return where the offsets of a fit begin, and the data without them.

    What else is added to the products, S in W H + S say, is left to a start of its own.
    """
    V = known_data(fit)
    if len(fit.chains) == 1:
        return {}, V
    b, c = np.zeros((V.shape[0], 1)), np.zeros((1, V.shape[1]))
    found: Factors = {}
    blocks = {block.name: block for block in problem.blocks}
    sides = {chain.names[0]: _side(chain) for chain in fit.chains if len(chain.names) == 1}
    lowest = all(blocks[name].nonneg for name in fit.variables if not sides.get(name))
    for chain in fit.chains:
        name = chain.names[0]
        side = sides.get(name)
        if not side:
            continue
        start = (_low if lowest else _mean)(V, b, c, side) / chain.scale
        if blocks[name].nonneg:
            start = np.maximum(start, 0.0)
        ref = fit.place(name)[2]
        found[name] = (start.T if ref.flipped else start).astype(problem.dtype)
        if side == "b":
            b = b + chain.scale * start
        else:
            c = c + chain.scale * start
    return found, Centered(V, b, c)


def _side(chain: Chain) -> str:
    """Return "b" for an offset of rows, "c" for one of columns, nothing for what is no offset."""
    if _is(chain, 0, 1):
        return "b"
    return "c" if _is(chain, 1, 0) else ""


def _is(chain: Chain, place: int, ones: int) -> bool:
    """Whether the chain is a variable and a vector of ones, in these places."""
    if len(chain.factors) != 2:
        return False
    own, other = chain.factors[place], chain.factors[ones]
    if not isinstance(own, Ref) or isinstance(other, Ref) or own.mask is not None:
        return False
    return other.shape[1 - ones] == 1 and bool((other == 1).all())


def _low(V: Data, b: Array, c: Array, side: str) -> Array:
    """Return the smallest entries of V − b 1ᵀ − 1 c in each row, or in each column."""
    if sp.issparse(V) and not b.any() and not c.any():
        axis = 1 if side == "b" else 0
        low = np.asarray(V.min(axis=axis).toarray(), dtype=float)
        return low.reshape((-1, 1) if side == "b" else (1, -1))
    rows = []
    for part in row_chunks(V.shape):
        own = V[part].toarray() if sp.issparse(V) else V[part]
        rest = own - b[part] - c
        rows.append(rest.min(axis=1) if side == "b" else rest.min(axis=0))
    return np.concatenate(rows)[:, None] if side == "b" else np.min(rows, axis=0)[None, :]


def _mean(V: Data, b: Array, c: Array, side: str) -> Array:
    """Return the means of V − b 1ᵀ − 1 c in each row, or in each column."""
    if side == "b":
        means: Array = np.asarray(V.mean(axis=1), dtype=float).reshape(-1, 1) - b - c.mean()
    else:
        means = np.asarray(V.mean(axis=0), dtype=float).reshape(1, -1) - c - b.mean()
    return means
