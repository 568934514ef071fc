"""Symmetric matrices by how they are given: dense or sparse, V Vᵀ, products alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky
from scipy.sparse.linalg import LinearOperator

from conicnmf.model.operators.base import FORMED, Operator, Point
from conicnmf.types import Array, Data, power_of, stored


def dense(X: Data) -> Array:
    """Return a matrix as a plain array.

    Examples
    --------
    >>> dense(sp.csr_array(np.eye(2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _times(A: Data, W: Array) -> Array:
    """Return A W for a symmetric A; of a dense one the rows are read once for all columns of W."""
    return np.asarray(A @ W if sp.issparse(A) else (W.T @ A).T)


@dataclass(frozen=True, eq=False)
class Symmetric(Operator):
    """A symmetric matrix, dense or sparse, split into A = A⁺ − A⁻ entry by entry."""

    A: Data

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.A.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision."""
        kind: np.dtype[Any] = self.A.dtype
        return kind

    def __matmul__(self, W: Array) -> Array:
        return _times(self.A, W)

    @cached_property
    def plus(self) -> Data:
        """The positive entries."""
        return self.A.maximum(0.0) if sp.issparse(self.A) else np.maximum(self.A, 0.0)

    @cached_property
    def minus(self) -> Data | None:
        """The magnitudes of the negative entries, or nothing when there are none."""
        if not self.A.size or self.A.min() >= 0:
            return None
        return (-self.A).maximum(0.0) if sp.issparse(self.A) else np.maximum(-self.A, 0.0)

    @property
    def signed(self) -> bool:
        """Whether A has negative entries."""
        return self.minus is not None

    @property
    def splits(self) -> bool:
        """It does."""
        return True

    def at(self, W: Array) -> Point:
        """Return W with both products."""
        minus = None if self.minus is None else _times(self.minus, W)
        return Point(W, _times(self.plus, W), minus)

    @property
    def trace(self) -> float:
        """The sum of the diagonal."""
        return float(self.A.trace())

    def times(self, c: float) -> Symmetric:
        """Return c·A."""
        return Symmetric(self.A * self.dtype.type(c))

    def matrix(self) -> Array:
        """Return A as a plain array."""
        return dense(self.A)

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.A.diagonal())

    @cached_property
    def root(self) -> Data:
        """L with A = L Lᵀ: the Cholesky factor where A is definite."""
        matrix = self.matrix().astype(float)
        try:
            L = cholesky(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return super().root
        # Next to a singular matrix the factor exists by rounding alone.
        return L if L.diagonal().min() > 1e-6 * L.diagonal().max() else super().root


@dataclass(frozen=True, eq=False)
class Moments(Operator):
    """A = V Vᵀ, formed only where that is the cheaper way to A W."""

    V: Data

    @property
    def size(self) -> int:
        """The number of features."""
        return int(self.V.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of V."""
        kind: np.dtype[Any] = self.V.dtype
        return kind

    @cached_property
    def formed(self) -> Array | None:
        """V Vᵀ when it has fewer entries than two passes over V touch."""
        m, n = self.V.shape
        touched = 2 * (self.V.nnz if sp.issparse(self.V) else m * n)
        return dense(self.V @ self.V.T) if m * m <= touched else None

    def __matmul__(self, W: Array) -> Array:
        return np.asarray(self.V @ (self.V.T @ W) if self.formed is None else self.formed @ W)

    @cached_property
    def signed(self) -> bool:
        """Whether V has negative entries."""
        return bool(stored(self.V).min(initial=0.0) < 0)

    @property
    def semidefinite(self) -> bool:
        """V Vᵀ always is."""
        return True

    @cached_property
    def trace(self) -> float:
        """‖V‖²."""
        return float(np.sum(stored(self.V) ** 2))

    def times(self, c: float) -> Moments:
        """Return what √c·V makes."""
        return Moments(self.V * self.dtype.type(math.sqrt(c)))

    @cached_property
    def power(self) -> int | None:
        """An even one, so that V changes no digit."""
        own = power_of(self.V)
        return None if own is None else 2 * own

    def matrix(self) -> Array:
        """Return V Vᵀ as a plain array."""
        return dense(self.V @ self.V.T)

    def diagonal(self) -> Array:
        """Return the squared norms of the rows."""
        V = self.V
        return np.ravel(V.multiply(V).sum(axis=1) if sp.issparse(V) else np.sum(V * V, axis=1))


@dataclass(frozen=True, eq=False)
class Products(Operator):
    """A matrix known by its products alone: a `scipy.sparse.linalg.LinearOperator`."""

    A: LinearOperator

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.A.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision, double where none is stated."""
        return np.dtype(self.A.dtype or float)

    def __matmul__(self, W: Array) -> Array:
        return np.asarray(self.A @ W)

    @cached_property
    def _formed(self) -> Symmetric | None:
        """A itself where it is small enough to be split entry by entry."""
        return Symmetric(self.matrix()) if self.size <= FORMED else None

    @property
    def signed(self) -> bool:
        """Whether A has negative entries, or may have them."""
        return self._formed is None or self._formed.signed

    @property
    def splits(self) -> bool:
        """It does where A can be formed."""
        return self._formed is not None

    def at(self, W: Array) -> Point:
        """Return W with both products; where A is large, A W is split instead of A."""
        return super().at(W) if self._formed is None else self._formed.at(W)

    @cached_property
    def trace(self) -> float:
        """The sum of the diagonal."""
        return float(self.diagonal().sum())

    def times(self, c: float) -> Products:
        """Return the operator of c times the products."""
        return Products(self.A * c)

    def matrix(self) -> Array:
        """Return A as a plain array, by as many products as it has columns."""
        return np.asarray(self.A @ np.eye(self.size))
