"""Data and model entry by entry, a part at a time: rows of dense data, or only what is stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.kernels.residuals import cut_residuals, product
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

    They are at a place, rows and columns, of the data. `back` turns numbers at these entries, zero
    elsewhere, into these columns of Aᵀ times their matrix.
    """

    y: Array
    p: Array
    m: Array | float
    back: Callable[[Array], Array]
    place: tuple[slice, slice] = (slice(None), slice(None))

    def add(self, values: Array, total: Array) -> None:
        """Add Aᵀ times the matrix of numbers at these entries."""
        total[:, self.place[1]] += self.back(values)

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

    def cut_residuals(self, delta: float = np.inf, times: float = 1.0) -> tuple[float, Array]:
        """Return the weighted costs of residuals y − p cut off at ±δ, and times the weighted residuals.

        They take the place of the model.
        """
        m = None if isinstance(self.m, float) else self.m
        return cut_residuals(self.y, self.p, delta, times, m)


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
        # Visited along the memory, entries are neighbors there, and so are those of the model.
        along = int(not sp.issparse(Y) and Y.strides[0] < Y.strides[1])
        most = max(_FEWEST, _CACHED // Y.shape[1 - along])
        # In equal parts: a small one at the end would not be worth a compiled pass.
        step = math.ceil(Y.shape[along] / math.ceil(Y.shape[along] / most))
        for first in range(0, Y.shape[along], step):
            part = slice(first, first + step)
            yield _at_columns(Y, A, B, weights, part) if along else _at_rows(Y, A, B, weights, part)


def _at_rows(Y: Data, A: Array, B: Array, weights: Data | None, rows: slice) -> Visit:
    y = Y[rows].toarray() if sp.issparse(Y) else Y[rows]
    place = rows, slice(None)
    return Visit(y, A[rows] @ B, _weights(weights, place, y), A[rows].T.__matmul__, place)


def _at_columns(Y: Array, A: Array, B: Array, weights: Data | None, columns: slice) -> Visit:
    place = slice(None), columns
    y, p = Y[place], (B[place].T @ A.T).T
    return Visit(y, p, _weights(weights, place, y), A.T.__matmul__, place)


def _weights(weights: Data | None, place: tuple[slice, slice], y: Array) -> Array | float:
    if weights is None:
        return 1.0
    # A single row, or a single column, holds for all.
    rows, columns = (
        slice(None) if n == 1 else s for n, s in zip(weights.shape, place, strict=True)
    )
    own: Array = weights[rows, columns]
    return own.astype(y.dtype, copy=False)


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
