"""Weighted (masked) squared Frobenius loss: missing entries have weight zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.losses.frobenius import row_chunks, squared_norm
from conicnmf.model.losses.visits import visits
from conicnmf.model.losses.weights import (
    Weights,
    check_weights,
    evenness,
    full,
    said,
    times,
    turned,
)
from conicnmf.model.terms import Loss, Quadratic, Reduced
from conicnmf.settings import Limit, Positive
from conicnmf.types import Array, Data, Mask, stored


@dataclass(frozen=True, eq=False, repr=False)
class WeightedFrobenius(Loss):
    """The loss scale · ‖M ∘ (Y − A B)‖²_F with non-negative weights M, at most `cap`.

    The weights have the shape of the data, or (m, 1) or (1, n) for one weight per feature or per
    sample. A boolean mask (True = observed) is also allowed. With sparse weights, the cost is
    proportional to the number of observed entries.

    Examples
    --------
    >>> import numpy as np
    >>> loss = WeightedFrobenius(np.array([[1, 0], [1, 1]]))
    >>> loss.value(np.ones((2, 2)), np.zeros((2, 1)), np.zeros((1, 2)))
    3.0
    """

    weights: Weights
    scale: Positive = 1.0
    cap: Limit = np.inf

    def __repr__(self) -> str:
        return f"WeightedFrobenius({self._observed}, scale={self.scale:g})"

    @cached_property
    def _observed(self) -> str:
        # Every reason against a solver names the loss.
        return said(self.weights)

    @cached_property
    def _M2(self) -> Data:
        # Where it is first asked for: a loss that is only scaled on its way to another has none.
        return self.weights * self.weights

    @cached_property
    def evenness(self) -> float:
        """The mean of M² over the largest."""
        return evenness(self._M2)

    def transposed(self) -> WeightedFrobenius:
        """Return the loss for the transposed data."""
        return replace(self, weights=turned(self.weights))

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless the weights have the shape of the data."""
        check_weights(self.weights, shape)

    def scaled(self, c: float) -> WeightedFrobenius:
        """Divide the scale by c²."""
        return replace(self, scale=self.scale / c**2)

    def masked(self, observed: Mask) -> WeightedFrobenius:
        """Give no weight to the other entries."""
        return replace(self, weights=times(self.weights, observed))

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss over the weighted entries."""
        return self.scale * sum(v.cut_residuals()[0] for v in visits(Y, A, B, self._M2))

    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return 2 scale Aᵀ(M² ∘ (A B − Y))."""
        return self._value_and_gradient(Y, A, B)[1]

    def _value_and_gradient(self, Y: Data, A: Array, B: Array) -> tuple[float, Array]:
        """Return both: the model is made once for them."""
        value, slope = 0.0, np.zeros(B.shape)
        for v in visits(Y, A, B, self._M2):
            cost, slopes = v.cut_residuals(times=-2.0)
            value += cost
            v.add(slopes, slope)
        return self.scale * value, (self.scale * slope).astype(B.dtype, copy=False)

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return the two parts of the gradient for A, B, Y ≥ 0."""
        down, up = np.zeros(B.shape), np.zeros(B.shape)
        for v in visits(Y, A, B, self._M2):
            v.add(v.weighed(v.y), down)
            v.add(v.weighed(v.p), up)
        down, up = 2 * self.scale * down, 2 * self.scale * up
        return down.astype(B.dtype, copy=False), up.astype(B.dtype, copy=False)

    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Reduce each column by its own weighted Gram matrix."""
        G, C = self.grams(Y, A, slice(None))
        return Quadratic(G, C, self.scale * squared_norm(self.weights * Y)).reduced()

    def grams(self, Y: Data, A: Array, columns: slice) -> tuple[Array, Array]:
        """Return 2 scale Aᵀ diag(M²) A for each column, and the correlations with the data."""
        # In double precision: of a column with few observed entries the Gram matrix is singular, and
        # its eigenvalues tell rounding from what was observed.
        A = A.astype(np.float64, copy=False)
        rank = A.shape[1]
        upper = np.triu_indices(rank)
        M2 = full(self._M2, Y.shape)[:, columns]
        # All products of two atoms, weighted and added up for all columns at once.
        parts = (
            (A[rows][:, upper[0]] * A[rows][:, upper[1]]).T @ M2[rows]
            for rows in row_chunks((len(A), len(upper[0])))
        )
        packed = np.ascontiguousarray(2 * self.scale * np.asarray(sum(parts)).T)
        places = np.empty((rank, rank), dtype=np.intp)
        places[upper] = places.T[upper] = np.arange(len(upper[0]))
        G = packed[:, places]
        weighted = M2 * Y[:, columns]
        return G, 2 * self.scale * np.ascontiguousarray((weighted.T @ A).T)

    def majorize(self, Y: Data, A: Array, B: Array) -> Quadratic:
        """Fill in what weights hide from the model at B: then all entries weigh as the largest."""
        # Divided by the largest M², the weighted squares are those of M²∘Y + (1 − M²)∘A B up to a
        # constant, and the quadratic of those has this gradient at B.
        G = 2 * self.scale * float(stored(self._M2).max()) * (A.T @ A)
        return Quadratic.touching(*self._value_and_gradient(Y, A, B), G, B)

    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the literal residual form, of the size of the data."""
        return self.scale * cp.sum_squares(cp.multiply(full(self.weights, Y.shape), Y - A @ B))
