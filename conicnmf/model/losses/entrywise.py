"""Losses that are sums over entries: a subclass says what one entry costs, the rest is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.model.losses.visits import Visit, visits
from conicnmf.model.losses.weighted import WeightedFrobenius
from conicnmf.model.losses.weights import (
    MaybeWeights,
    check_weights,
    evenness,
    full,
    said,
    times,
    turned,
)
from conicnmf.model.terms import Loss, Quadratic
from conicnmf.settings import Limit, Positive
from conicnmf.types import Array, Data, Mask, stored


@dataclass(frozen=True, eq=False, repr=False)
class Entrywise(Loss):
    """scale · Σ M ∘ ℓ(Y, A B) with weights M, at most `cap`; subclasses define ℓ and its slope.

    Weights multiply the loss. They have the shape of the data, or (m, 1) or (1, n) for one weight
    per feature or per sample. With sparse weights, the cost is proportional to the number of
    observed entries.
    """

    weights: MaybeWeights = field(default=None, kw_only=True)
    scale: Positive = field(default=1.0, kw_only=True)
    cap: Limit = field(default=np.inf, kw_only=True)

    def entries(self, y: Array, p: Array) -> Array:
        """Return what each entry costs."""
        raise self._lacks("entries")

    def slopes(self, y: Array, p: Array) -> Array:
        """Return the derivative of each entry's cost in p."""
        raise self._lacks("slopes")

    def atoms(self, Y: Data, P: cp.Expression) -> cp.Expression:
        """Return the same costs for CVXPY."""
        raise self._lacks("atoms")

    def rule(self) -> tuple[str, Any, str]:
        """Return what the data must be, which entries are not, and what to do; nothing by default."""
        return "", None, ""

    @property
    def details(self) -> str:
        """The settings that a text shows first."""
        return ""

    def __repr__(self) -> str:
        parts = [self.details, self._observed, f"scale={self.scale:g}"]
        parts += [f"cap={self.cap:g}"] if np.isfinite(self.cap) else []
        return f"{type(self).__name__}({', '.join(part for part in parts if part)})"

    @cached_property
    def _observed(self) -> str:
        # Every reason against a solver names the loss.
        return said(self.weights)

    def transposed(self) -> Self:
        """Return the loss for the transposed data."""
        return self if self.weights is None else replace(self, weights=turned(self.weights))

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless the weights fit the data."""
        if self.weights is not None:
            check_weights(self.weights, shape)

    def check_data(self, Y: Data, name: str = "V") -> None:
        """Raise where an entry with a weight breaks the rule of the loss."""
        rule, broken, remedy = self.rule()
        if not rule:
            return
        bad = _first_bad(Y, self.weights, broken)
        if bad is not None:
            raise InputError(f"{type(self).__name__} needs {name} {rule}, got {bad:g}; {remedy}")

    def masked(self, observed: Mask) -> Self:
        """Give no weight to the other entries."""
        return replace(self, weights=times(self.weights, observed))

    @cached_property
    def evenness(self) -> float:
        """The mean of the weights over the largest."""
        return evenness(self.weights)

    @property
    def squared(self) -> Loss | None:
        """Squares with the same weights."""
        return None if self.weights is None else WeightedFrobenius(np.sqrt(self.weights))

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the weighted sum over the entries."""
        return self.scale * sum(self.cost(v) for v in visits(Y, A, B, self.weights))

    def cost(self, v: Visit) -> float:
        """Return the weighted sum over visited entries."""
        return v.sum(self.entries(v.y, v.p))

    def cost_and_slopes(self, v: Visit) -> tuple[float, Array]:
        """Return the weighted sum over visited entries, and their weighted slopes."""
        return self.cost(v), v.weighed(self.slopes(v.y, v.p))

    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return scale · Aᵀ(M ∘ ℓ')."""
        total = np.zeros(B.shape)
        for v in visits(Y, A, B, self.weights):
            v.add(v.weighed(self.slopes(v.y, v.p)), total)
        return (self.scale * total).astype(B.dtype, copy=False)

    def bounded(self, bend: float, Y: Data, A: Array, B: Array) -> Quadratic:
        """Return the majorizer at B of a cost that bends no more than this in p."""
        heaviest = 1.0 if self.weights is None else float(stored(self.weights).max())
        G = self.scale * bend * heaviest * (A.T @ A)
        value, slope = 0.0, np.zeros(B.shape)
        for v in visits(Y, A, B, self.weights):  # the model is made once for both
            cost, slopes = self.cost_and_slopes(v)
            value += cost
            v.add(slopes, slope)
        slope = (self.scale * slope).astype(B.dtype, copy=False)
        return Quadratic.touching(self.scale * value, slope, G, B)

    def squares(
        self, Y: Data, A: Array, B: Array, shares: Callable[[Array, Array], Array]
    ) -> WeightedFrobenius:
        """Return Σ scale · M ∘ shares(Y, A B) ∘ (Y − X)², the squares of another model X."""
        seen = visits(Y, A, B, self.weights)
        return self.as_squares(Y, ((v, v.weighed(self.scale * shares(v.y, v.p))) for v in seen))

    def as_squares(self, Y: Data, factors: Iterable[tuple[Visit, Array]]) -> WeightedFrobenius:
        """Return squares with these factors of visited entries."""
        if sp.issparse(self.weights):
            pattern, ((_, values),) = self.weights, factors
            kept = np.sqrt(values), pattern.indices, pattern.indptr
            return WeightedFrobenius(sp.csr_array(kept, shape=pattern.shape))
        # Stored as the data are.
        M = np.empty(Y.shape, Y.dtype) if sp.issparse(Y) else np.empty_like(Y)
        for v, values in factors:
            np.sqrt(values, out=M[v.place])
        return WeightedFrobenius(M)

    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the literal sum, of the size of the data, over the entries that have a weight."""
        P = A @ B
        if self.weights is None:
            return self.scale * cp.sum(self.atoms(Y, P))
        M = full(self.weights, Y.shape)
        if np.count_nonzero(stored(M)) < np.prod(Y.shape):
            # Where nothing is observed the cost may be infinite, and zero times that is no number.
            kept = M.nonzero()
            Y, M, P = (X.toarray() if sp.issparse(X) else X for X in (Y, M, P))
            Y, M, P = Y[kept], M[kept], P[kept]
        return self.scale * cp.sum(cp.multiply(M, self.atoms(Y, P)))


def _first_bad(Y: Data, weights: Data | None, broken: Any) -> float | None:
    """Return an entry with a weight that breaks a rule, the zeros of sparse data included."""
    if weights is None:
        values = stored(Y)
        found = values[broken(values)]
        zeros = sp.issparse(Y) and Y.nnz < np.prod(Y.shape) and broken(np.zeros(1)).any()
        return float(found.min()) if found.size else 0.0 if zeros else None
    flat = np.zeros((Y.shape[0], 1)), np.zeros((1, Y.shape[1]))
    for visit in visits(Y, *flat, weights):
        wrong = broken(visit.y) & (np.broadcast_to(visit.m, visit.y.shape) > 0)
        if wrong.any():
            return float(visit.y[wrong].min())
    return None
