"""The autoencoders that SCFC is compared with, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conicnmf.estimators.coders import Encoder
from conicnmf.estimators.valid import RandomState
from conicnmf.families import autoencoders as ae
from conicnmf.model.problem import Problem
from conicnmf.settings import Count, Positive, Share, Weight, Whole
from conicnmf.solve.methods import ProjectedGradient
from conicnmf.types import Array


class NMFSC(Encoder):
    """Factors of exact sparseness; codes of new samples are found by an optimization.

    Every new code gets the mean norms of the training codes and fits its sample under them.

    Parameters
    ----------
    n_components : int
    sparseness_w, sparseness_h : float or None
        Exact Hoyer sparseness of each component, and of each feature over the training samples.
    nonneg : bool
        Non-negative components and codes; the samples may have any sign.
    standardize : bool
        Bring each sample to mean zero and variance one first, as suits images.
    max_iter : int
        Iterations of the fit.
    random_state : int, RandomState or None
        A whole number is the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import NMFSC
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> NMFSC(6, max_iter=20).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: Count = 16,
        *,
        sparseness_w: Share | None = 0.8,
        sparseness_h: Share | None = None,
        nonneg: bool = True,
        standardize: bool = False,
        max_iter: Whole = 120,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.sparseness_w = sparseness_w
        self.sparseness_h = sparseness_h
        self.nonneg = nonneg
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _problem(self, V: Array) -> Problem:
        sparseness = self.sparseness_w, self.sparseness_h
        return ae.exact_codes(V, self.n_components, *sparseness, self.nonneg)

    def _solver(self) -> ProjectedGradient:
        return ProjectedGradient()

    def transform(self, X: Any) -> Array:
        """Return codes with the mean norms of the training codes, one a row."""
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        l1, l2 = ae.code_norms(self.result_.H)
        return np.ascontiguousarray(ae.infer_exact(V, self.result_.W, l1, l2, self.nonneg).T)


class BatchEncoder(Encoder):
    """An autoencoder that learns from a few samples at a time."""

    batch: int
    rate: float

    def _solver(self) -> ae.MiniBatch:
        return ae.MiniBatch(self.batch, self.rate)

    def _decoded(self, H: Array) -> Array:
        empty = np.zeros((self.n_features_in_, 1), dtype=H.dtype)
        return np.asarray(self._problem(empty).decoded(self.result_.factors, H))


class SESM(BatchEncoder):
    """The sparse encoding symmetric machine: the same filters encode and decode.

    Parameters
    ----------
    n_components : int
    alpha_e, alpha_s, alpha_r : float
        Weights of encoding, of sparse codes and of sparse filters.
    batch, rate : int, float
        Samples in a batch, and the step of the parameters.
    standardize : bool
        Bring each sample to mean zero and variance one first, as suits images.
    max_iter : int
        Times that every sample is seen.
    random_state : int, RandomState or None
        A whole number is the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import SESM
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> SESM(6, max_iter=3).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: Count = 16,
        *,
        alpha_e: Weight = 1.0,
        alpha_s: Weight = 0.2,
        alpha_r: Weight = 1e-3,
        batch: Count = 50,
        rate: Positive = 0.003,
        standardize: bool = False,
        max_iter: Whole = 20,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha_e = alpha_e
        self.alpha_s = alpha_s
        self.alpha_r = alpha_r
        self.batch = batch
        self.rate = rate
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _problem(self, V: Array) -> ae.SymmetricMachine:
        weights = self.alpha_e, self.alpha_s, self.alpha_r
        return ae.SymmetricMachine(V, self.n_components, *weights)


class PSD(BatchEncoder):
    """Predictive sparse decomposition: an encoder that predicts l1-sparse codes.

    Parameters
    ----------
    n_components : int
    l1, alpha : float
        Weights of sparse codes and of their prediction.
    batch, rate : int, float
        Samples in a batch, and the step of the parameters.
    standardize : bool
        Bring each sample to mean zero and variance one first, as suits images.
    max_iter : int
        Times that every sample is seen.
    random_state : int, RandomState or None
        A whole number is the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import PSD
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> PSD(6, max_iter=3).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: Count = 16,
        *,
        l1: Weight = 0.5,
        alpha: Weight = 1.0,
        batch: Count = 50,
        rate: Positive = 0.003,
        standardize: bool = False,
        max_iter: Whole = 20,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.l1 = l1
        self.alpha = alpha
        self.batch = batch
        self.rate = rate
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _problem(self, V: Array) -> ae.PredictiveCodes:
        return ae.PredictiveCodes(V, self.n_components, self.l1, self.alpha)
