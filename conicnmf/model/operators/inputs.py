"""Symmetric matrices as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr
from conicnmf.model.operators.base import Operator
from conicnmf.model.operators.matrices import Products, Symmetric
from conicnmf.types import Array, Data, stored
from conicnmf.validate import as_numbers


def as_operator(A: Any, name: str) -> Operator:
    """Return a symmetric matrix in whatever form it comes: array, sparse, products, low rank.

    Examples
    --------
    >>> as_operator(np.eye(3), "A").trace
    3.0
    """
    if isinstance(A, Operator):
        return A
    if isinstance(A, LinearOperator):
        if A.shape[0] != A.shape[1]:
            raise InputError(f"{name} must be square, got shape {A.shape}")
        return Products(A)
    return Symmetric(as_symmetric(A, name))


def as_symmetric(A: Any, name: str) -> Data:
    """Return A as a finite symmetric matrix of floats.

    Examples
    --------
    >>> as_symmetric([[0, 1], [2, 0]], "A")
    Traceback (most recent call last):
    conicnmf.errors.InputError: A must be symmetric, ...; use (A + A.T) / 2
    """
    matrix = as_csr(A, name) if sp.issparse(A) else as_numbers(A, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise InputError(f"{name} must be a square matrix, got shape {matrix.shape}; try V @ V.T")
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
