"""Data and model entry by entry, a part at a time: rows of dense data, or only what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.kernels.huber import product
from conicnmf.kernels.stored import stored_products
from conicnmf.types import Array, Data

_CACHED = 1 << 15
"""How many entries are visited at once: what is made of them stays in the cache."""
_FEWEST = 24
"""How many rows at least: products with fewer are slow, and arrays of a megabyte and more, which the
allocator gives back to the system each time, are slower still."""


@dataclass(eq=False)
class Visit:
    """Some entries y of the data, the model p there, and their weights m.

    `back` turns numbers at these entries, zero elsewhere, into Aᵀ times their matrix.
    """

    y: Array
    p: Array
    m: Array | float
    back: Callable[[Array], Array]

    def weighed(self, values: Array) -> Array:
        """Return numbers at these entries times the weights; what has none may be infinite."""
        if isinstance(self.m, float):
            return values
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.asarray(self.m * values)
            if np.isfinite(found.sum()):
                return found
            return np.where(self.m > 0, found, values.dtype.type(0))

    def sum(self, values: Array) -> float:
        """Return the weighted sum of numbers at these entries, in double precision."""
        m = self.m
        if not isinstance(m, float) and (m.shape, m.strides) == (values.shape, values.strides):
            with np.errstate(invalid="ignore", over="ignore"):
                total = product(m, values)
            if np.isfinite(total):  # else what has no weight may be infinite
                return total
        return float(np.sum(self.weighed(values), dtype=np.float64))


def visits(
    Y: Data, A: Array, B: Array, weights: Data | None, stored_only: bool = False
) -> Iterator[Visit]:
    """Visit every entry that has a weight; with `stored_only` the non-zeros of sparse data alone.

    Examples
    --------
    >>> [visit.p.tolist() for visit in visits(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), None)]
    [[[1.0, 1.0], [1.0, 1.0]]]
    """
    if sp.issparse(weights):
        yield _at(weights, Y, A, B, weights)
    elif stored_only and sp.issparse(Y):
        yield _at(Y, Y, A, B, weights)
    else:
        step = max(_FEWEST, _CACHED // Y.shape[1])
        for first in range(0, Y.shape[0], step):
            rows = slice(first, first + step)
            y = Y[rows].toarray() if sp.issparse(Y) else Y[rows]
            part = A[rows]
            # The model is stored as the data are, or every pass over both would jump.
            p = (B.T @ part.T).T if y.strides[0] < y.strides[-1] else part @ B
            yield Visit(y, p, _in_rows(weights, rows, y.dtype), part.T.__matmul__)


def _in_rows(weights: Data | None, rows: slice, dtype: Any) -> Array | float:
    if weights is None:
        return 1.0
    own: Array = weights if weights.shape[0] == 1 else weights[rows]
    return own.astype(dtype, copy=False)


def _at(pattern: Data, Y: Data, A: Array, B: Array, weights: Data | None) -> Visit:
    """Visit the entries that a sparse matrix stores."""
    rows, columns = coordinates(pattern)
    y = _entries(Y, pattern, rows, columns)
    m = 1.0 if weights is None else _entries(weights, pattern, rows, columns)
    p = stored_products(rows, columns, A, B.T)
    return Visit(y, p, m, partial(_back, pattern, A))


def _back(pattern: Data, A: Array, values: Array) -> Array:
    matrix = type(pattern)((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    return np.asarray((matrix.T @ A).T)


def coordinates(pattern: Data) -> tuple[Any, Any]:
    """Return row and column of each stored entry, by rows or by columns as it is stored.

    Examples
    --------
    >>> [index.tolist() for index in coordinates(sp.csr_array([[0, 1], [2, 0]]).T)]
    [[1, 0], [0, 1]]
    """
    counts = np.diff(pattern.indptr)
    slow = np.repeat(np.arange(counts.size), counts)
    return (slow, pattern.indices) if pattern.format == "csr" else (pattern.indices, slow)


def _entries(X: Data, pattern: Data, rows: Any, columns: Any) -> Array:
    """Return the entries of X, one a row or a column included, where the pattern has its own."""
    if X is pattern:
        return np.asarray(X.data)
    rows = np.zeros_like(rows) if X.shape[0] == 1 < pattern.shape[0] else rows
    columns = np.zeros_like(columns) if X.shape[1] == 1 < pattern.shape[1] else columns
    return np.asarray(X[rows, columns]).ravel()
