"""Squared Frobenius loss, the same for dense and sparse data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.model.terms import Loss, Reduced
from conicnmf.settings import Limit, Positive
from conicnmf.types import Array, Data, Mask, stored

_CHUNK = 1 << 20


def row_chunks(shape: tuple[int, ...]) -> list[slice]:
    """Return slices of rows that hold about a million entries each."""
    step = max(1, _CHUNK // max(1, shape[1]))
    return [slice(start, start + step) for start in range(0, shape[0], step)]


def squared_norm(Y: Data) -> float:
    """Return ‖Y‖²_F, summed in double precision."""
    values = np.ravel(stored(Y), order="K")
    return float(np.einsum("i,i->", values, values, dtype=np.float64))


def _correlations(A: Array, Y: Data) -> Array:
    """Return Aᵀ Y row by row in one piece, a part of the rows at a time where A is large.

    SciPy copies A for a product with sparse data, and a factor may be as large as such data.
    """
    if not sp.issparse(Y) or A.size <= 2 * _CHUNK:
        return np.ascontiguousarray(A.T @ Y)
    C = np.empty((A.shape[1], Y.shape[1]), np.result_type(A, Y))
    step = max(1, 2 * _CHUNK // len(A))
    for first in range(0, len(C), step):
        C[first : first + step] = A[:, first : first + step].T @ Y
    return C


def _shown(cap: float) -> str:
    return f", cap={cap:g}" if np.isfinite(cap) else ""


@dataclass(frozen=True, eq=False, repr=False)
class Frobenius(Loss):
    """The loss scale · ‖Y − A B‖²_F, constrained to be at most `cap`.

    Examples
    --------
    >>> import numpy as np
    >>> Frobenius().value(np.eye(2), np.zeros((2, 1)), np.zeros((1, 2)))
    2.0
    """

    scale: Positive = 1.0
    cap: Limit = np.inf

    def __repr__(self) -> str:
        return f"Frobenius(scale={self.scale:g}{_shown(self.cap)})"

    def scaled(self, c: float) -> Frobenius:
        """Divide the scale by c²."""
        return replace(self, scale=self.scale / c**2)

    def masked(self, observed: Mask) -> Loss:
        """Return weighted squares, with no weight for the other entries."""
        from conicnmf.model.losses.weighted import WeightedFrobenius

        return WeightedFrobenius(observed, self.scale, self.cap)

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss without an array of the size of Y."""
        if not B.any():
            return self.scale * squared_norm(Y)
        if sp.issparse(Y):
            cross = np.einsum("ij,ij->", A.T @ Y, B)
            gram = np.einsum("ij,ij->", A.T @ A, B @ B.T)
            return self.scale * max(0.0, squared_norm(Y) - 2 * float(cross) + float(gram))
        return self.scale * sum(squared_norm(Y[rows] - A[rows] @ B) for rows in row_chunks(Y.shape))

    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return 2 scale Aᵀ(A B − Y) through the Gram matrix."""
        G, C = self.quadratic(Y, A)
        return G @ B - C

    def quadratic(self, Y: Data, A: Array) -> tuple[Array, Array]:
        """Return the Gram matrix and the correlations with the data."""
        G, C = A.T @ A, _correlations(A, Y)
        for product in (G, C):
            product *= 2 * self.scale
        return G, C

    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Reduce by A = Q R: ‖Y − A B‖² = ‖QᵀY − R B‖² + (‖Y‖² − ‖QᵀY‖²)."""
        Q, R = np.linalg.qr(A)
        D = np.asarray(Q.T @ Y)
        missing = max(0, R.shape[1] - R.shape[0])  # more components than features
        R, D = (np.pad(X, ((0, missing), (0, 0))) for X in (R, D))
        root = np.sqrt(self.scale)
        constant = self.scale * max(0.0, squared_norm(Y) - squared_norm(D))
        return Reduced(root * R, root * D, constant)

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return the two parts of the gradient for A, B, Y ≥ 0."""
        G, C = self.quadratic(Y, A)
        return C, G @ B

    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the literal residual form, of the size of the data."""
        return self.scale * cp.sum_squares(Y - A @ B)
