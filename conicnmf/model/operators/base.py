"""What methods need of a symmetric matrix: products, signed halves, extreme eigenvalues, roots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.operators.spectrum import has_factor, top_eigenvalue, top_pair
from conicnmf.types import Array, Data, power_of

_DENSE = 500
"""Up to this size all eigenvalues are computed."""
FORMED = 4000
"""Up to this size a matrix is formed where that answers a question exactly."""


@dataclass(frozen=True, eq=False)
class Point:
    """A matrix W with A⁺W and A⁻W, so that a rule and the objective share one product."""

    W: Array
    plus: Array
    minus: Array | None = None

    @property
    def G(self) -> Array:
        """The learning direction A W."""
        return self.plus if self.minus is None else self.plus - self.minus

    def times(self, scale: float) -> Point:
        """Return the point of scale·W."""
        minus = None if self.minus is None else scale * self.minus
        return Point(scale * self.W, scale * self.plus, minus)


class Operator(ABC):
    """A symmetric matrix of size m × m."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The precision."""

    @abstractmethod
    def __matmul__(self, W: Array) -> Array:
        """Return A W."""

    @property
    def splits(self) -> bool:
        """Whether `at` splits A into non-negative halves, and not just the product A W."""
        return not self.signed

    def at(self, W: Array) -> Point:
        """Return W with its products; without signed halves A W is split entry by entry."""
        G = self @ W
        if not self.signed:
            return Point(W, G)
        return Point(W, np.maximum(G, 0.0), np.maximum(-G, 0.0))

    @property
    def signed(self) -> bool:
        """Whether A has negative entries, or may have them."""
        return True

    @property
    @abstractmethod
    def trace(self) -> float:
        """The trace of A."""

    @abstractmethod
    def times(self, c: float) -> Operator:
        """Return c·A for a c > 0."""

    @cached_property
    def power(self) -> int | None:
        """A power of two about as large as A, nothing where A is zero."""
        x = np.random.default_rng(0).random((self.size, 1)).astype(self.dtype)
        return power_of(self @ x)

    @abstractmethod
    def matrix(self) -> Array:
        """Return A as a plain array."""

    @property
    def semidefinite(self) -> bool:
        """Whether A is positive semi-definite by its construction."""
        return False

    @cached_property
    def largest(self) -> float:
        """The largest eigenvalue, or a little more."""
        if self.size <= _DENSE:
            return float(np.linalg.eigvalsh(self.matrix())[-1])
        return top_eigenvalue(lambda x: self @ x, self.size)

    @cached_property
    def top_vector(self) -> Array:
        """A unit vector of the largest eigenvalue, its largest entry positive."""
        if self.size <= _DENSE:
            x = np.linalg.eigh(self.matrix())[1][:, -1]
        else:
            x = top_pair(lambda y: self @ y, self.size)[1]
        return np.asarray(x if x[np.abs(x).argmax()] > 0 else -x)

    @cached_property
    def lowest(self) -> float:
        """The smallest eigenvalue, or a little less; never asked of ARPACK as such.

        Of a singular matrix the smallest eigenvalue converges slowly or not at all. So first a
        Cholesky factorization says whether A is semi-definite up to rounding; if it is not, the
        largest eigenvalue of cI − A is asked for.
        """
        if self.semidefinite:
            return 0.0
        if self.size <= _DENSE:
            return float(np.linalg.eigvalsh(self.matrix())[0])
        top = max(self.largest, 0.0)
        scale = top or 1.0
        if self.size <= FORMED and has_factor(self.matrix(), 1e-11 * scale):
            return 0.0
        return top - top_eigenvalue(lambda x: top * x - self @ x, self.size)

    @property
    def sign(self) -> int:
        """1 for a positive semi-definite matrix, −1 for a negative one, 0 for neither."""
        low, high = self.lowest, self.largest
        rounding = 1e-10 * max(abs(low), abs(high))
        return 1 if low >= -rounding else -1 if high <= rounding else 0

    @cached_property
    def root(self) -> Data:
        """L with A = L Lᵀ for a semi-definite A, with fewer columns than rows where A is singular."""
        values, vectors = np.linalg.eigh(self.matrix())
        kept = values > 1e-12 * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    def nonneg_least(self, g: Array) -> Array:
        """Return the w ≥ 0 that minimizes ½wᵀAw − ⟨g, w⟩, for a semi-definite A."""
        return nnls_gram(self.matrix().astype(float), g[:, None])[:, 0]

    def inverse_norm(self, x: Array) -> float:
        """Return √(xᵀA⁻¹x), for a definite A."""
        square = float(x @ np.linalg.solve(self.matrix().astype(float), x))
        return float(np.sqrt(max(0.0, square)))

    @cached_property
    def directions(self) -> Array:
        """G with A = G Gᵀ where A is positive semi-definite: one column when A has rank one."""
        single = self.single
        if single is not None:
            return single[:, None]
        values, vectors = np.linalg.eigh(self.matrix())
        kept = values > 1e-10 * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    @property
    def width(self) -> int:
        """How many directions there are at most, as far as it is known without eigenvalues."""
        return self.size

    @cached_property
    def single(self) -> Array | None:
        """The vector g with A = ggᵀ, nothing where A is not of that form."""
        diagonal = self.diagonal()
        place = int(np.argmax(diagonal))
        if not diagonal[place] > 0:
            return None
        unit = np.zeros((self.size, 1))
        unit[place] = 1.0
        g = (self @ unit)[:, 0] / np.sqrt(diagonal[place])
        # A column of ggᵀ gives g; then A x = g⟨g,x⟩ for any x, and a few random ones tell.
        X = np.random.default_rng(0).standard_normal((self.size, 4))
        gap = np.abs(self @ X - g[:, None] * (g @ X)).max()
        return g if gap <= 1e-9 * np.abs(g).max() * np.abs(g @ X).max() else None

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(np.diag(self.matrix()))
