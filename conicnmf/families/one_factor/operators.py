"""The matrix A of a projection problem, known by its products with W and by their signed halves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from conicnmf.errors import InputError
from conicnmf.types import Array, Data, stored

_DENSE = 1500
"""Up to this size all eigenvalues are computed, beyond it only the two ends."""


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
    """A symmetric matrix that may never be formed."""

    @abstractmethod
    def at(self, W: Array) -> Point:
        """Return W with its products."""

    @property
    @abstractmethod
    def trace(self) -> float:
        """The trace of A."""


@dataclass(frozen=True, eq=False)
class Symmetric(Operator):
    """A symmetric matrix, dense or sparse, split into A = A⁺ − A⁻ entry by entry."""

    A: Data

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

    def at(self, W: Array) -> Point:
        """Return W with both products."""
        return Point(W, self.plus @ W, None if self.minus is None else self.minus @ W)

    @property
    def trace(self) -> float:
        """The sum of the diagonal."""
        return float(self.A.trace())

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue."""
        m = self.A.shape[0]
        if m <= _DENSE:
            values = np.linalg.eigvalsh(dense(self.A))
            return float(values[0]), float(values[-1])
        begin = np.ones(m)  # ARPACK would draw its own start, and no two runs would be equal
        low, high = (
            float(eigsh(self.A, 1, which=end, v0=begin, return_eigenvectors=False)[0])
            for end in ("SA", "LA")
        )
        return low, high

    @cached_property
    def single(self) -> Array | None:
        """The vector g with A = ggᵀ, nothing where A is not of that form."""
        diagonal = np.asarray(self.A.diagonal())
        place = int(np.argmax(diagonal))
        if not diagonal[place] > 0:
            return None
        # Every column of ggᵀ is a multiple of g; no other A has this trace and this eigenvalue.
        g = dense(self.A[:, [place]])[:, 0] / np.sqrt(diagonal[place])
        low, high = self.ends
        gap = max(abs(low), abs(self.trace - high), abs(float(g @ g) - high))
        return g if gap <= 1e-9 * high or len(g) == 1 else None

    @property
    def sign(self) -> int:
        """1 for a positive semi-definite matrix, −1 for a negative one, 0 for neither."""
        low, high = self.ends
        rounding = 1e-10 * max(abs(low), abs(high))
        return 1 if low >= -rounding else -1 if high <= rounding else 0


@dataclass(frozen=True, eq=False)
class Moments(Operator):
    """A = V Vᵀ of non-negative data, formed only where that is the cheaper way to A W."""

    V: Data

    @cached_property
    def formed(self) -> Array | None:
        """V Vᵀ when it has fewer entries than two passes over V touch."""
        m, n = self.V.shape
        touched = 2 * (self.V.nnz if sp.issparse(self.V) else m * n)
        return dense(self.V @ self.V.T) if m * m <= touched else None

    def at(self, W: Array) -> Point:
        """Return W with V (Vᵀ W)."""
        return Point(W, self.V @ (self.V.T @ W) if self.formed is None else self.formed @ W)

    @cached_property
    def trace(self) -> float:
        """‖V‖²."""
        return float(np.sum(stored(self.V) ** 2))


def dense(X: Data) -> Array:
    """Return a matrix as a plain array.

    Examples
    --------
    >>> dense(sp.csr_array(np.eye(2)))
    array([[1., 0.],
           [0., 1.]])
    """
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def as_symmetric(A: Any, name: str) -> Data:
    """Return A as a finite symmetric matrix of floats.

    Examples
    --------
    >>> as_symmetric([[0, 1], [2, 0]], "A")
    Traceback (most recent call last):
    conicnmf.errors.InputError: A must be symmetric, ...; use (A + A.T) / 2
    """
    matrix = sp.csr_array(A) if sp.issparse(A) else np.asarray(A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(f"{name} must be a square matrix, got shape {matrix.shape}; try V @ V.T")
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers, got dtype {matrix.dtype}")
    matrix = matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(float)
    values: Array = stored(matrix)
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite, got NaN or infinite entries; replace them first")
    largest = float(np.abs(values).max(initial=0.0))
    gap = float(abs(matrix - matrix.T).max()) if values.size else 0.0
    if gap > 1e3 * float(np.finfo(matrix.dtype).eps) * largest:
        raise InputError(
            f"{name} must be symmetric, got entries that differ by {gap:.3g} from their mirror; "
            f"use ({name} + {name}.T) / 2"
        )
    return matrix
