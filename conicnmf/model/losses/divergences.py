"""β-divergences: Kullback–Leibler for counts, Itakura–Saito for spectra, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from scipy.special import kl_div

from conicnmf.model.losses.entrywise import Entrywise
from conicnmf.model.losses.frobenius import Frobenius
from conicnmf.model.losses.visits import visits
from conicnmf.model.losses.weights import column_sums, full
from conicnmf.model.terms import Loss
from conicnmf.settings import Exponent
from conicnmf.types import Array, Data

_NOTHING = 1e-3
"""A model below this part of the data counts as this large where slopes have no bound: one entry
would outweigh all others."""


class Divergence(Entrywise):
    """The β-divergence of the data from the model, for non-negative factors.

    (y^β + (β − 1) p^β − β y p^{β−1}) / (β (β − 1)), and its limits for β = 1 and 0. It is convex in the
    model for 1 ≤ β ≤ 2 only, but multiplicative rules lower it for every β.
    """

    @property
    def beta(self) -> float:
        """The exponent of the divergence."""
        raise self._lacks("beta")

    @property
    def degree(self) -> float:
        """The power of c with which the divergence of c·Y from c·A B grows."""
        return self.beta

    def scaled(self, c: float) -> Self:
        """Divide the scale by the power of c that the divergence grows with."""
        return replace(self, scale=self.scale / c**self.degree)

    @property
    def convex(self) -> bool:
        """Whether the divergence is convex in the model."""
        return 1 <= self.beta <= 2

    @property
    def abilities(self) -> frozenset[str]:
        """All forms, but for CVXPY only where the divergence is convex."""
        return super().abilities - (frozenset() if self.convex else {"expression"})

    @property
    def powers(self) -> tuple[float, float]:
        """The exponents of the bound: its convex parts by Jensen's inequality, the rest by tangents."""
        return max(self.beta - 1, 0.0), min(self.beta - 2, 0.0)

    def rule(self) -> tuple[str, Any, str]:
        """Return that data are non-negative, positive where zero is infinitely far from the model."""
        if self.beta <= 0:
            return "> 0", lambda y: ~(y > 0), "add a small number to V, or use KullbackLeibler"
        return ">= 0", lambda y: ~(y >= 0), "shift or clip V, or use Frobenius"

    def entries(self, y: Array, p: Array) -> Array:
        """Return the divergence of each entry, infinite outside the domain."""
        # Inside the domain plain passes over the entries do; special functions are slow.
        inside = p.min(initial=1.0) > 0 and y.min(initial=0.0) >= 0
        return self._inside(y, p) if inside else self._anywhere(y, p)

    def _inside(self, y: Array, p: Array) -> Array:
        """Return the same for a positive model and data that keep the rule."""
        beta = self.beta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if beta == 0:
                share = y / p
                return np.asarray(share - np.log(share) - 1)
            if beta == 1:
                # y log(y/p) is zero at y = 0: any positive number may stand for y/p in the logarithm.
                share = y / p
                np.maximum(share, np.finfo(share.dtype).tiny, out=share)
                found = np.log(share, out=share)
                found *= y
                found -= y
                found += p
                return found
            found = _power(y, beta) + _power(p, beta - 1) * ((beta - 1) * p - beta * y)
            return np.asarray(found / (beta * (beta - 1)))

    def _anywhere(self, y: Array, p: Array) -> Array:
        """Return the same for any model."""
        if self.beta == 1:
            return np.asarray(kl_div(y, p))
        outside = (p < 0) | ((p == 0) & (y > 0) & (self.beta <= 1))
        found = np.where((p == 0) & (y == 0), 0.0, self._inside(y, p))
        return np.where(outside, np.inf, found)

    def parts(self, y: Array, p: Array) -> tuple[Array, Array]:
        """Return (N, P) with slope P − N of each entry: y p^{β−2} and p^{β−1}."""
        # A model of zero has no slope here; a floor whose powers are finite stands for it.
        p = np.maximum(p, np.finfo(p.dtype).tiny ** 0.25)
        up = _power(p, self.beta - 1)
        down = y / p
        down *= up
        return down, up

    def slopes(self, y: Array, p: Array) -> Array:
        """Return p^{β−1} − y p^{β−2}."""
        down, up = self.parts(y, p)
        return up - down

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return Aᵀ(M ∘ N) and Aᵀ(M ∘ P)."""
        down, up = np.zeros(B.shape), np.zeros(B.shape)
        for visit in visits(Y, A, B, self.weights):
            N, P = self.parts(visit.y, visit.p)
            visit.add(visit.weighed(N), down)
            visit.add(visit.weighed(P), up)
        return (self.scale * down).astype(B.dtype), (self.scale * up).astype(B.dtype)

    def score(self, Y: Data, A: Array, B: Array) -> Loss:
        """Return the squares with the weights p^{β−2}/2, whose slope is that of the divergence.

        Where data are noise round the model, they bend as the divergence does on average.
        """

        def shares(y: Array, p: Array) -> Array:
            floor = np.maximum(_NOTHING * y, np.finfo(p.dtype).tiny ** 0.25)
            return 0.5 * _power(np.maximum(p, floor), self.beta - 2)

        return self.squares(Y, A, B, shares)

    def atoms(self, Y: Data, P: cp.Expression) -> cp.Expression:
        """Return the divergences for CVXPY."""
        if not self.convex:
            raise self._lacks("expression")
        beta = self.beta
        if beta == 1:
            return cp.kl_div(Y, P)
        Y = Y.toarray() if sp.issparse(Y) else Y
        rest = cp.multiply(Y, P) if beta == 2 else cp.multiply(Y, cp.power(P, beta - 1))
        return Y**beta / (beta * (beta - 1)) + cp.power(P, beta) / beta - rest / (beta - 1)


def _power(x: Array, exponent: float) -> Array:
    """Return powers, those of multiples of one half by square roots, which are ten times as fast."""
    if exponent < 0:
        return np.asarray(1 / _power(x, -exponent))
    if exponent == 1.5:
        return np.asarray(x * np.sqrt(x))
    return np.asarray(np.sqrt(x) if exponent == 0.5 else x**exponent)


@dataclass(frozen=True, eq=False, repr=False)
class BetaDivergence(Divergence):
    """The β-divergence for any β: 2 is half the square, 1 Kullback–Leibler, 0 Itakura–Saito.

    References
    ----------
    Févotte and Idier, Algorithms for NMF with the β-divergence, Neural Computation 2011.

    Examples
    --------
    >>> loss = BetaDivergence(1.5)
    >>> loss.value(np.eye(2), np.ones((2, 1)), np.ones((1, 2)))
    1.3333333333333333
    """

    beta: Exponent = 1.0

    @property
    def details(self) -> str:
        """Show β."""
        return f"beta={self.beta:g}"

    @property
    def plainest(self) -> Loss:
        """Half the square where β is 2: methods for squares need no bounds of powers."""
        if self.beta != 2:
            return self
        return (self.squared or Frobenius()).times(self.scale / 2)


@dataclass(frozen=True, eq=False, repr=False)
class KullbackLeibler(Divergence):
    """The generalized Kullback–Leibler divergence Σ y log(y/p) − y + p, for Poisson counts.

    For sparse data, only the stored entries are visited; the others enter through sums.

    References
    ----------
    Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2000.

    Examples
    --------
    >>> round(KullbackLeibler().value(np.eye(2), np.full((2, 1), 0.5), np.ones((1, 2))), 4)
    1.3863
    """

    @property
    def beta(self) -> float:
        """One."""
        return 1.0

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the divergence, through sums where sparse data store nothing."""
        if not sp.issparse(Y) or sp.issparse(self.weights):
            return super().value(Y, A, B)
        if (A < 0).any() or (B < 0).any():
            return super().value(Y, A, B)
        (visit,) = visits(Y, A, B, self.weights, stored_only=True)
        total = visit.sum(self.entries(visit.y, visit.p) - visit.p)
        total += float(np.sum(column_sums(self.weights, A) * B, dtype=np.float64))
        return self.scale * max(total, 0.0)

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return Aᵀ(M ∘ Y/P) and AᵀM."""
        down = np.zeros(B.shape)
        for v in visits(Y, A, B, self.weights, stored_only=True):
            if (v.p > 0).all():
                share = v.y / v.p
            else:
                share = np.divide(v.y, v.p, out=np.zeros_like(v.p), where=v.p > 0)
            v.add(v.weighed(share), down)
        up = np.broadcast_to(column_sums(self.weights, A), B.shape)
        return (self.scale * down).astype(B.dtype), (self.scale * up).astype(B.dtype)

    def poisson(self, Y: Data) -> tuple[Data, Data]:
        """Return M ∘ Y and M."""
        M = np.ones((1, 1)) if self.weights is None else self.weights
        N = Y if self.weights is None else full(M, Y.shape) * Y
        return N if self.scale == 1 else self.scale * N, self.scale * M

    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return Aᵀ(M ∘ (1 − Y/P))."""
        down, up = self.ratio(Y, A, B)
        return up - down


@dataclass(frozen=True, eq=False, repr=False)
class ItakuraSaito(Divergence):
    """The Itakura–Saito divergence Σ y/p − log(y/p) − 1: small and large entries count equally.

    References
    ----------
    Févotte, Bertin and Durrieu, NMF with the Itakura–Saito divergence, Neural Computation 2009.

    Examples
    --------
    >>> round(ItakuraSaito().value(np.full((1, 1), 2.0), np.ones((1, 1)), np.ones((1, 1))), 4)
    0.3069
    """

    @property
    def beta(self) -> float:
        """Zero."""
        return 0.0
