"""Extreme eigenvalues without asking for the smallest one of a singular matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cholesky, eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from conicnmf.types import Array


def top_eigenvalue(product: Callable[[Array], Array], m: int) -> float:
    """Return the largest eigenvalue of a symmetric matrix, or a little more, by its products."""
    value, x = top_pair(product, m)
    return value + float(np.linalg.norm(product(x) - value * x)) + 1e-9 * abs(value)


def top_pair(product: Callable[[Array], Array], m: int) -> tuple[float, Array]:
    """Return the largest eigenvalue, as good as it could be found, and its unit vector."""
    operator = LinearOperator((m, m), matvec=product, dtype=float)
    begin = np.ones(m)  # ARPACK would draw its own start, and no two runs would be equal
    try:
        values, vectors = eigsh(operator, 1, which="LA", v0=begin, tol=1e-6, maxiter=20 * m)
        return float(values[0]), vectors[:, 0]
    except ArpackError:  # go on by power steps
        x = begin / np.sqrt(m)
        for _ in range(100):
            x = operator @ x
            x = x / (np.linalg.norm(x) or 1.0)
        return float(x @ (operator @ x)), np.asarray(x)


def has_factor(matrix: Array, ridge: float) -> bool:
    """Whether matrix + ridge·I has a Cholesky factor."""
    try:
        cholesky(matrix + ridge * np.eye(len(matrix)), lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True


def generalized_lowest(A: Array, B: Array) -> float:
    """Return the smallest λ with A x = λ B x for a definite B."""
    found = eigh(A, B, eigvals_only=True, subset_by_index=[0, 0])
    return float(found[0])
