"""Weights of the entries of the data: dense, sparse, a mask, one a feature or one a sample."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr, is_lazy, require_loaded
from conicnmf.settings import Reads
from conicnmf.types import Array, Data, Mask, stored
from conicnmf.validate import as_numbers


class Unseen(np.ndarray):
    """Weights of samples none of whose entries are observed, which only parts of data may have."""

    @classmethod
    def of(cls, features: int) -> Unseen:
        """Return a zero for each feature."""
        return np.zeros((features, 1)).view(cls)


def as_weights(given: Any, name: str) -> Data:
    """Return weights as floats, sparse ones by rows.

    Examples
    --------
    >>> as_weights([[True, False]], "weights")
    array([[1., 0.]])
    """
    if is_lazy(given) or isinstance(given, Unseen):
        return given  # looked at where its strips are
    weights = as_csr(given, name) if sp.issparse(given) else as_numbers(given, name)
    kind = np.float32 if weights.dtype == np.float32 else np.float64
    weights = weights.astype(kind, copy=False)
    values = stored(weights)
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        low, high = values.min(initial=0.0), values.max(initial=0.0)
        raise InputError(
            f"{name} must be finite, non-negative and not all zero, got values from {low} to "
            f"{high}; use 1 for observed entries and 0 for missing ones"
        )
    return weights


def _none_or_weights(given: Any, name: str) -> Data | None:
    return None if given is None else as_weights(given, name)


Weights: TypeAlias = Annotated[Data, Reads(as_weights)]
MaybeWeights: TypeAlias = Annotated[Data, Reads(_none_or_weights)]


def check_weights(weights: Data, shape: tuple[int, int]) -> None:
    """Raise unless there is a weight for each entry of the data, each row or each column."""
    require_loaded(weights, "weights")
    check_shape(weights, shape)


def check_shape(weights: Any, shape: tuple[int, int]) -> None:
    """Raise unless weights have one of the shapes that go with the data."""
    m, n = shape
    allowed = [(m, n)] if sp.issparse(weights) else [(m, n), (m, 1), (1, n)]
    if weights.shape not in allowed:
        raise InputError(
            f"weights must have the shape of V, {shape}, got {weights.shape}; give one weight for "
            f"each entry of V, or an array of shape ({m}, 1) or (1, {n}) for features or samples"
        )


def turned(weights: Data) -> Data:
    """Return the weights of the transposed data."""
    return weights.T.tocsr() if sp.issparse(weights) else weights.T


def times(weights: Data | None, observed: Mask) -> Data:
    """Return weights, equal ones by default, that are zero where nothing is observed."""
    if weights is None:
        return observed
    if is_lazy(weights) or is_lazy(observed):
        return weights * observed
    return sp.csr_array(weights * observed) if sp.issparse(weights) else weights * observed


def full(weights: Data, shape: tuple[int, int]) -> Data:
    """Return a weight for each entry, without a copy."""
    return weights if sp.issparse(weights) else np.broadcast_to(weights, shape)


def column_sums(weights: Data | None, A: Array) -> Array:
    """Return AᵀM for weights M, in one column where all columns of M are equal.

    Examples
    --------
    >>> column_sums(np.array([[1.0, 2.0]]), np.ones((3, 1)))
    array([[3., 6.]])
    """
    if weights is not None and weights.shape[0] == len(A):
        return np.asarray((weights.T @ A).T)
    sums = np.asarray(A.sum(axis=0, dtype=np.float64))[:, None]
    return sums if weights is None else sums * weights


def said(weights: Data | None) -> str:
    """Return what a text says of weights.

    Examples
    --------
    >>> said(np.array([[1.0, 0.0]]))
    '0.5 of the entries observed'
    """
    if weights is None:
        return ""
    if is_lazy(weights):
        return f"weights of shape {weights.shape}"
    kept = weights.nnz if sp.issparse(weights) else np.count_nonzero(weights)
    return f"{kept / np.prod(weights.shape):.3g} of the entries observed"


def evenness(weights: Data | None) -> float:
    """Return the mean of weights over the largest, one where there are none.

    Examples
    --------
    >>> evenness(np.array([[1.0, 0.0], [1.0, 1.0]]))
    0.75
    """
    if weights is None or is_lazy(weights):
        return 1.0
    largest = float(stored(weights).max(initial=0.0))
    mean = float(weights.sum(dtype=float)) / (weights.shape[0] * weights.shape[1])
    return mean / largest if largest else 1.0
