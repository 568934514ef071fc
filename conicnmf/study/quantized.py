"""Codes of few values: each row rounded to k of them, and every code of zeros and ones."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.settings import Count, Reads, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_numbers

_ROUNDS = 300
_LONGEST = 16


def _as_matrix(X: Any, name: str) -> Array:
    matrix = as_numbers(X, name)
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(
            f"{name} must be a matrix with entries, got shape {matrix.shape}; one column is "
            "X.reshape(-1, 1)"
        )
    return finite(matrix, name)


def finite(given: Array, name: str) -> Array:
    """Return numbers as double, once none is missing or infinite.

    Examples
    --------
    >>> finite(np.array([1, 2]), "scores")
    array([1., 2.])
    """
    if not np.isfinite(given).all():
        raise InputError(f"{name} must be finite, got NaN or infinite entries; leave these out")
    return given.astype(float)


Matrix: TypeAlias = Annotated[Any, Reads(_as_matrix)]
"""A matrix of finite numbers."""


@checks_arguments
def quantize(H: Matrix, k: Count) -> Array:
    """Return H with the entries of each row replaced by the nearest of k values of its own.

    The values are those of k-means in one dimension, from quantiles of the row.

    Examples
    --------
    >>> quantize([[0.0, 1.0, 9.0, 10.0]], 2)
    array([[0.5, 0.5, 9.5, 9.5]])
    """
    return np.array([_rounded(row, k) for row in H])


def _rounded(row: Array, k: int) -> Array:
    values = np.quantile(row, (np.arange(k) + 0.5) / k)
    for _ in range(_ROUNDS):
        owner = np.searchsorted(_middles(values), row)
        counts = np.bincount(owner, minlength=k)
        sums = np.bincount(owner, weights=row, minlength=k)
        # A value without entries stays where it is.
        means = np.where(counts > 0, sums / np.maximum(counts, 1), values)
        if np.array_equal(means, values):
            break
        values = np.sort(means)
    return np.asarray(values[np.searchsorted(_middles(values), row)])


def _middles(values: Array) -> Array:
    return np.asarray(values[1:] / 2 + values[:-1] / 2)


@checks_arguments
def binary_codes(W: Matrix, H: Matrix) -> Array:
    """Return what every code of zeros and ones stands for: 2ʳ columns W h.

    A one is the largest magnitude in that row of H.

    Parameters
    ----------
    W : array of shape (features, components)
        With 16 components at most.
    H : array of shape (components, samples)

    Examples
    --------
    >>> binary_codes([[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [0.0, 3.0]])
    array([[0., 0., 2., 2.],
           [0., 3., 0., 3.]])
    """
    r = W.shape[1]
    if r != len(H) or r > _LONGEST:
        raise InputError(
            f"binary_codes needs a row of H for each column of W and at most {_LONGEST} of them, got "
            f"{r} columns and {len(H)} rows; take some of the components"
        )
    bits = np.array(list(product((0.0, 1.0), repeat=r))).T
    return np.asarray(W @ (np.abs(H).max(axis=1)[:, None] * bits))
