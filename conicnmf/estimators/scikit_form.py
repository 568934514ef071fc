"""What `NMF` and `MiniBatchNMF` share: scikit-learn's parameters in terms of this package.

There W are the codes and H the components, with X ≈ W H. Here codes and components are named so.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.estimators.base import FactorizationEstimator
from conicnmf.estimators.custom_start import custom_start
from conicnmf.estimators.sparse_nmf import Band, band
from conicnmf.estimators.valid import RandomState
from conicnmf.model.constraints import NonNegative
from conicnmf.model.losses import BetaDivergence, Frobenius, ItakuraSaito, KullbackLeibler
from conicnmf.model.penalties import L1, L2
from conicnmf.model.terms import Loss, Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.results import Result
from conicnmf.settings import Count, Exponent, Share, Weight
from conicnmf.solve.starts import NNDSVD, Random, Start
from conicnmf.types import Array, Data

Rank: TypeAlias = Count | Literal["auto"] | None
BetaLoss: TypeAlias = Literal["frobenius", "kullback-leibler", "itakura-saito"] | Exponent
Init: TypeAlias = Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"] | Start | None

_BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
_STARTS: dict[str, Start] = {
    "random": Random(),
    "nndsvd": NNDSVD(fill="zero"),
    "nndsvda": NNDSVD(fill="mean"),
    "nndsvdar": NNDSVD(fill="random"),
}


class ScikitForm(FactorizationEstimator):
    """A non-negative factorization with scikit-learn's parameters, attributes and objective."""

    max_iter: int
    tol: float
    n_components_: int
    _n_samples: int
    _n_components: int

    def __init__(
        self,
        n_components: Rank,
        init: Init,
        beta_loss: BetaLoss,
        tol: Weight,
        max_iter: Count,
        random_state: RandomState,
        alpha_W: Weight,
        alpha_H: Weight | Literal["same"],
        l1_ratio: Share,
        verbose: int,
        sparseness: Band,
        code_sparseness: Band,
        component_terms: Sequence[Term],
        code_terms: Sequence[Term],
    ) -> None:
        super().__init__(None, max_iter, tol, 1, random_state)
        self.n_components = n_components
        self.init = init
        self.beta_loss = beta_loss
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.sparseness = sparseness
        self.code_sparseness = code_sparseness
        self.component_terms = component_terms
        self.code_terms = code_terms

    @property
    def _rank(self) -> int:
        return self._n_components

    @property
    def _beta(self) -> float:
        beta = self.beta_loss
        return _BETAS[beta] if isinstance(beta, str) else float(beta)

    def _loss(self) -> Loss:
        """Return the divergence that scikit-learn minimizes; for β = 2 half the squares."""
        known: dict[float, Loss] = {
            2.0: Frobenius(0.5),
            1.0: KullbackLeibler(),
            0.0: ItakuraSaito(),
        }
        return known.get(self._beta) or BetaDivergence(beta=self._beta)

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        alpha = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        components = self._penalties(alpha * self._n_samples)
        codes = self._penalties(self.alpha_W * self.n_features_in_)
        sparse = band(self.sparseness, "component"), band(self.code_sparseness, "sample")
        return (
            [NonNegative(), *components, *sparse[0], *self.component_terms],
            [NonNegative(), *codes, *sparse[1], *self.code_terms],
        )

    def _penalties(self, weight: float) -> list[Term]:
        l1, l2 = weight * self.l1_ratio, weight * (1 - self.l1_ratio) / 2
        return ([L1(l1)] if l1 else []) + ([L2(l2)] if l2 else [])

    def _begin(self, V: Data, codes: Any, components: Any) -> Any:
        """Set the rank, and return where to start with these samples."""
        self._n_samples = V.shape[1]
        rank = self.n_components
        if isinstance(self.init, str) and self.init == "custom":
            start, self._n_components = custom_start(V, rank, codes, components)
            return start
        if codes is not None or components is not None:
            warnings.warn(
                "When init!='custom', provided W or H are ignored. Set init='custom' to use them as "
                "initialization.",
                RuntimeWarning,
                stacklevel=4,
            )
        self._n_components = V.shape[0] if rank in ("auto", None) else rank
        return self._start(V)

    def _start(self, V: Data) -> Start:
        fits = self._n_components <= min(V.shape)
        if self.init is None:
            return _STARTS["nndsvda" if fits else "random"]
        if isinstance(self.init, Start):
            return self.init
        if not fits and self.init != "random":
            raise InputError(
                f"init = {self.init!r} can only be used when n_components <= min(n_samples, "
                f"n_features), got {self._n_components} components for X of {V.shape[1]} × "
                f"{V.shape[0]}; use init='random'"
            )
        return _STARTS[self.init]

    def _keep(self, result: Result, V: Data, observed: Any) -> Self:
        super()._keep(result, V, observed)
        self.n_components_ = len(self.components_)
        self.reconstruction_err_ = self._divergence(V, result.H, observed)
        return self

    def _held_at(self, components: Array, V: Data, observed: Any) -> Array:
        """Return the codes of samples by components that are given."""
        self._n_samples = V.shape[1]
        self.components_ = components
        self.sample_terms_ = tuple(filter(of_one_sample, self._terms()[1]))
        return self._codes(V, observed)

    def _divergence(self, V: Data, H: Array, observed: Any) -> float:
        """Return √(2 · divergence) of the samples from their model, as scikit-learn reports it."""
        loss = self._loss() if observed is None else self._loss().masked(observed)
        # Where the model is exact, rounding may leave less than nothing.
        return float(np.sqrt(2 * max(0.0, loss.value(V, self.components_.T, H))))

    def _data(self, X: Any, reset: bool) -> tuple[Data, Any]:
        V, observed = super()._data(X, reset)
        values = V.data if sp.issparse(V) else V
        low = values.min(initial=0.0)
        name = type(self).__name__
        if low < 0:
            raise InputError(
                f"Negative values in data passed to {name} (input X): it must be >= 0, got "
                f"{low:g}; clip it, np.maximum(X, 0), or use SparseNMF, which takes them"
            )
        if self._beta <= 0 and self._has_zeros(V, observed):
            raise InputError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small "
                "values to X, or use a positive beta_loss."
            )
        return V, observed

    @staticmethod
    def _has_zeros(V: Data, observed: Any) -> bool:
        if sp.issparse(V):
            return V.nnz < V.shape[0] * V.shape[1] or not V.data.all()
        return bool((V == 0).any() if observed is None else (V[observed] == 0).any())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
