"""Weighted (masked) squared Frobenius loss: missing entries have weight zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr
from conicnmf.model.losses.frobenius import row_chunks, squared_norm
from conicnmf.model.terms import Loss, Quadratic, Reduced
from conicnmf.settings import Limit, Positive, Reads
from conicnmf.types import Array, Data, stored
from conicnmf.validate import as_numbers


def _as_weights(given: Any, name: str) -> Data:
    """Return weights as floats, sparse ones by rows."""
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


@dataclass(frozen=True, eq=False, repr=False)
class WeightedFrobenius(Loss):
    """The loss scale · ‖M ∘ (Y − A B)‖²_F with non-negative weights M, at most `cap`.

    The weights have the shape of the data. A boolean mask (True = observed) serves as weights;
    sparse weights keep the cost proportional to the number of observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> loss = WeightedFrobenius(np.array([[1, 0], [1, 1]]))
    >>> loss.value(np.ones((2, 2)), np.zeros((2, 1)), np.zeros((1, 2)))
    3.0
    """

    weights: Annotated[Data, Reads(_as_weights)]
    scale: Positive = 1.0
    cap: Limit = np.inf

    def check_settings(self) -> None:
        """Square the weights once."""
        object.__setattr__(self, "_squared", self.weights * self.weights)

    def __repr__(self) -> str:
        kept = self.weights.nnz if sp.issparse(self.weights) else np.count_nonzero(self.weights)
        share = kept / np.prod(self.weights.shape)
        return f"WeightedFrobenius({share:.3g} of the entries observed, scale={self.scale:g})"

    @property
    def _M2(self) -> Data:
        return self._squared  # type: ignore[attr-defined]

    def transposed(self) -> WeightedFrobenius:
        """Return the loss for the transposed data."""
        flipped = self.weights.T
        return replace(self, weights=flipped.tocsr() if sp.issparse(flipped) else flipped)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless the weights have the shape of the data."""
        if self.weights.shape != shape:
            raise InputError(
                f"weights must have the shape of V, {shape}, got {self.weights.shape}; "
                "give one weight for each entry of V"
            )

    def scaled(self, c: float) -> WeightedFrobenius:
        """Divide the scale by c²."""
        return replace(self, scale=self.scale / c**2)

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss over the weighted entries."""
        M = self.weights
        if sp.issparse(M):
            residual = _at_pattern(M, A, B)
            residual.data *= M.data
            return self.scale * squared_norm((M * Y - residual).tocsr())
        total = 0.0
        for rows in row_chunks(M.shape):
            part = Y[rows].toarray() if sp.issparse(Y) else Y[rows]
            total += squared_norm(M[rows] * (part - A[rows] @ B))
        return self.scale * total

    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return 2 scale Aᵀ(M² ∘ (A B − Y))."""
        down, up = self.ratio(Y, A, B)
        return up - down

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return the two parts of the gradient for A, B, Y ≥ 0."""
        down, up = self._correlations(Y, A), 2 * self.scale * self._model(A, B)
        return down.astype(B.dtype, copy=False), up.astype(B.dtype, copy=False)

    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Reduce each column by its own weighted Gram matrix."""
        G, C = self.grams(Y, A, slice(None))
        return Quadratic(G, C, self.scale * squared_norm(self.weights * Y)).reduced()

    def grams(self, Y: Data, A: Array, columns: slice) -> tuple[Array, Array]:
        """Return 2 scale Aᵀ diag(M²) A for each column, and the correlations with the data."""
        rank = A.shape[1]
        upper = np.triu_indices(rank)
        M2 = self._M2[:, columns]
        # All products of two atoms, weighted and added up for all columns at once.
        parts = (
            M2[rows].T @ (A[rows][:, upper[0]] * A[rows][:, upper[1]])
            for rows in row_chunks((len(A), len(upper[0])))
        )
        packed = 2 * self.scale * np.asarray(sum(parts))
        G = np.empty((packed.shape[0], rank, rank), dtype=packed.dtype)
        G[:, upper[0], upper[1]] = packed
        G[:, upper[1], upper[0]] = packed
        weighted = M2 * Y[:, columns]
        return G, 2 * self.scale * np.ascontiguousarray((weighted.T @ A).T)

    def majorize(self, Y: Data, A: Array, B: Array) -> Quadratic:
        """Fill in what weights hide from the model at B: then all entries weigh as the largest."""
        # Divided by the largest M², the weighted squares are those of M²∘Y + (1 − M²)∘A B up to a
        # constant, and the quadratic of those has this gradient at B.
        G = 2 * self.scale * float(stored(self._M2).max()) * (A.T @ A)
        return Quadratic.touching(self.value(Y, A, B), self.gradient(Y, A, B), G, B)

    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the literal residual form, of the size of the data."""
        return self.scale * cp.sum_squares(cp.multiply(self.weights, Y - A @ B))

    def _correlations(self, Y: Data, A: Array) -> Array:
        weighted = self._M2 * Y
        return 2 * self.scale * np.asarray((weighted.T @ A).T)

    def _model(self, A: Array, B: Array) -> Array:
        """Return Aᵀ(M² ∘ A B)."""
        if sp.issparse(self._M2):
            product = _at_pattern(self._M2, A, B)
            product.data *= self._M2.data
            return np.asarray((product.T @ A).T)
        parts = (
            A[rows].T @ (self._M2[rows] * (A[rows] @ B)) for rows in row_chunks(self._M2.shape)
        )
        return np.asarray(sum(parts))


def _at_pattern(M: sp.csr_array[Any], A: Array, B: Array) -> sp.csr_array[Any]:
    """Return A B at the non-zeros of M only."""
    rows = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr))
    values = np.empty(M.nnz)
    for part in row_chunks((M.nnz, A.shape[1])):
        values[part] = np.einsum("ij,ji->i", A[rows[part]], B[:, M.indices[part]])
    return sp.csr_array((values, M.indices, M.indptr), shape=M.shape)
