"""Autoencoders as scikit-learn estimators: fit learns an encoder, transform applies it.

Samples are rows here.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from conicnmf import autoencoders as ae
from conicnmf._types import Array
from conicnmf.autoencoders.transfer import answer
from conicnmf.engine import solve
from conicnmf.errors import InputError
from conicnmf.estimators.base import as_seed
from conicnmf.result import Result


class _Coder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all of them share: samples as columns, and codes as rows."""

    standardize: bool
    result_: Result

    def _columns(self, X: Any, reset: bool, **labels: Any) -> Any:
        """Return samples as columns, and labels where `y` is named."""
        checked = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], **labels)
        X, y = checked if labels else (checked, None)
        V = np.ascontiguousarray(X.T)
        if self.standardize:
            V = ae.standardize(V)
        return (V, y) if labels else V

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    @property
    def components_(self) -> Array:
        """The filters, one a row."""
        return self.result_.W.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _Encoder(_Coder):
    """An autoencoder of one statement that encodes with its own `codes`."""

    max_iter: int
    random_state: Any

    def _statement(self, V: Array) -> Any:
        raise TypeError(f"{type(self).__name__} must define _statement(V)")

    def _solver(self) -> Any:
        """Return the solver; None lets the statement choose."""

    def _init(self, V: Array) -> Any:
        """Return the start; None lets the statement choose."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the filters.

        Parameters
        ----------
        X : array of shape (samples, features)
        y : ignored
        """
        V = self._columns(X, reset=True)
        self.statement_ = self._statement(V)
        self.result_ = solve(
            self.statement_,
            self._solver(),
            init=self._init(V),
            stop=self.max_iter,
            seed=as_seed(self.random_state),
        )
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, X: Any) -> Array:
        """Return the codes of samples, one a row."""
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        return np.ascontiguousarray(self.statement_.codes(self.result_.factors, V).T)


class SCFC(_Encoder):
    """Sparse codes that one matrix product infers: transform(X) = tanh(β(XW + θ))^q.

    Parameters
    ----------
    n_components : int
        Filters.
    sparseness_w, sparseness_h : float or None
        Hoyer sparseness of each filter, and of each feature over the training samples.
    nonneg : bool
        Non-negative filters and training codes.
    q : int
        Odd exponent.
    alpha_i : float
        Final weight of inference against reconstruction.
    ramp : int
        Iterations in which that weight rises from zero.
    image_shape : tuple of int, optional
        Rows and columns where samples are images: filters then start as small windows.
    standardize : bool
        Bring each sample to mean zero and variance one first, as suits images.
    max_iter : int
        Iterations of the fit.
    random_state : int, RandomState or None
        A whole number is the seed.

    Attributes
    ----------
    components_ : array of shape (n_components, features)
    result_ : Result
        The solve, with the training codes H as a factor.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators.autoencoders import SCFC
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> SCFC(6, max_iter=20).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: int = 16,
        *,
        sparseness_w: float | None = 0.8,
        sparseness_h: float | None = 0.7,
        nonneg: bool = False,
        q: int = 3,
        alpha_i: float = 0.5,
        ramp: int = 60,
        image_shape: tuple[int, int] | None = None,
        standardize: bool = False,
        max_iter: int = 120,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.sparseness_w = sparseness_w
        self.sparseness_h = sparseness_h
        self.nonneg = nonneg
        self.q = q
        self.alpha_i = alpha_i
        self.ramp = ramp
        self.image_shape = image_shape
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _statement(self, V: Array) -> ae.FastCodes:
        return ae.FastCodes(
            V,
            self.n_components,
            self.sparseness_w,
            self.sparseness_h,
            nonneg=self.nonneg,
            q=self.q,
            alpha_i=self.alpha_i,
        )

    def _solver(self) -> ae.SCFC:
        return ae.SCFC(ae.Ramp(self.ramp))

    def _init(self, V: Array) -> Any:
        return _windows(V, self.n_components, self.image_shape, as_seed(self.random_state))


def _windows(V: Array, n: int, image_shape: tuple[int, int] | None, seed: int) -> Any:
    return None if image_shape is None else {"W": ae.windows(V, n, image_shape, seed=seed)}


class SCFCClassifier(ClassifierMixin, _Coder):
    """Filters that tell classes apart: one bank for each class against all others.

    Parameters
    ----------
    n_components : int
        Filters in each bank; two classes share one bank.
    sparseness_w, sparseness_h : float or None
        Hoyer sparseness of each filter, and of each feature over the training samples.
    nonneg : bool
        Non-negative filters and training codes.
    q : int
        Odd exponent.
    alpha_i, alpha_c : float
        Final weights of inference and of classification; what they leave of 1 is reconstruction's.
    ramp : int
        Iterations in which each of these weights rises from zero, one after the other.
    image_shape : tuple of int, optional
        Rows and columns where samples are images: filters then start as small windows.
    standardize : bool
        Bring each sample to mean zero and variance one first, as suits images.
    max_iter : int
        Iterations of each bank.
    random_state : int, RandomState or None
        A whole number is the seed.

    Attributes
    ----------
    classes_ : array
    results_ : list of Result
        One solve a bank.
    components_ : array
        The filters of all banks, one a row.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators.autoencoders import SCFCClassifier
    >>> X = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * np.random.default_rng(0).random((40, 8))
    >>> y = np.repeat(["a", "b"], 20)
    >>> SCFCClassifier(4, max_iter=60, ramp=20).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        n_components: int = 16,
        *,
        sparseness_w: float | None = 0.8,
        sparseness_h: float | None = 0.7,
        nonneg: bool = False,
        q: int = 3,
        alpha_i: float = 0.5,
        alpha_c: float = 0.5,
        ramp: int = 60,
        image_shape: tuple[int, int] | None = None,
        standardize: bool = False,
        max_iter: int = 200,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.sparseness_w = sparseness_w
        self.sparseness_h = sparseness_h
        self.nonneg = nonneg
        self.q = q
        self.alpha_i = alpha_i
        self.alpha_c = alpha_c
        self.ramp = ramp
        self.image_shape = image_shape
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn one bank of filters for each class, or one for two classes.

        Parameters
        ----------
        X : array of shape (samples, features)
        y : array of shape (samples,)
            Class labels.
        """
        V, y = self._columns(X, reset=True, y=y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(f"y must name at least two classes, got one class, {self.classes_}")
        ones = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        seed = as_seed(self.random_state)
        self.results_ = [self._bank(V, y == one, seed + i) for i, one in enumerate(ones)]
        self.n_iter_ = max(result.n_iter for result in self.results_)
        return self

    def _bank(self, V: Array, own: Any, seed: int) -> Result:
        statement = ae.FastCodes(
            V,
            self.n_components,
            self.sparseness_w,
            self.sparseness_h,
            nonneg=self.nonneg,
            y=own,
            q=self.q,
            alpha_i=self.alpha_i,
            alpha_c=self.alpha_c,
        )
        init = _windows(V, self.n_components, self.image_shape, seed)
        return solve(
            statement, ae.SCFC(ae.Ramp(self.ramp)), init=init, stop=self.max_iter, seed=seed
        )

    @property
    def components_(self) -> Array:
        """The filters of all banks, one a row."""
        return np.concatenate([result.W.T for result in self.results_])

    def _codes(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        factors = [result.factors for result in self.results_]
        return [ae.encode(V, f["W"], f["theta"], f["beta"], self.q) for f in factors]

    def transform(self, X: Any) -> Array:
        """Return the codes of samples by all banks, one sample a row."""
        return np.ascontiguousarray(np.concatenate(self._codes(X)).T)

    def decision_function(self, X: Any) -> Array:
        """Return the answer of each bank, between −1 and 1; that of the one bank for two classes."""
        answers = [
            answer(codes, result.factors["w_out"], result.factors["theta_out"])
            for codes, result in zip(self._codes(X), self.results_, strict=True)
        ]
        return answers[0] if len(answers) == 1 else np.stack(answers, axis=1)

    def predict(self, X: Any) -> Any:
        """Return the class whose bank answers most."""
        answers = self.decision_function(X)
        if answers.ndim == 1:
            return self.classes_[(answers > 0).astype(int)]
        return self.classes_[answers.argmax(axis=1)]


class NMFSC(_Encoder):
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
    >>> from conicnmf.estimators.autoencoders import NMFSC
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> NMFSC(6, max_iter=20).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: int = 16,
        *,
        sparseness_w: float | None = 0.8,
        sparseness_h: float | None = None,
        nonneg: bool = True,
        standardize: bool = False,
        max_iter: int = 120,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.sparseness_w = sparseness_w
        self.sparseness_h = sparseness_h
        self.nonneg = nonneg
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _statement(self, V: Array) -> ae.ExactCodes:
        sparseness = self.sparseness_w, self.sparseness_h
        return ae.ExactCodes(V, self.n_components, *sparseness, nonneg=self.nonneg)

    def transform(self, X: Any) -> Array:
        """Return codes with the mean norms of the training codes, one a row."""
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        l1, l2 = ae.code_norms(self.result_.H)
        return np.ascontiguousarray(ae.infer_exact(V, self.result_.W, l1, l2, self.nonneg).T)


class SESM(_Encoder):
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
    >>> from conicnmf.estimators.autoencoders import SESM
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> SESM(6, max_iter=3).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: int = 16,
        *,
        alpha_e: float = 1.0,
        alpha_s: float = 0.2,
        alpha_r: float = 1e-3,
        batch: int = 50,
        rate: float = 0.003,
        standardize: bool = False,
        max_iter: int = 20,
        random_state: Any = 0,
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

    def _statement(self, V: Array) -> ae.SymmetricMachine:
        weights = self.alpha_e, self.alpha_s, self.alpha_r
        return ae.SymmetricMachine(V, self.n_components, *weights)

    def _solver(self) -> ae.MiniBatch:
        return ae.MiniBatch(self.batch, self.rate)


class PSD(_Encoder):
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
    >>> from conicnmf.estimators.autoencoders import PSD
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> PSD(6, max_iter=3).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: int = 16,
        *,
        l1: float = 0.5,
        alpha: float = 1.0,
        batch: int = 50,
        rate: float = 0.003,
        standardize: bool = False,
        max_iter: int = 20,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.l1 = l1
        self.alpha = alpha
        self.batch = batch
        self.rate = rate
        self.standardize = standardize
        self.max_iter = max_iter
        self.random_state = random_state

    def _statement(self, V: Array) -> ae.PredictiveCodes:
        return ae.PredictiveCodes(V, self.n_components, self.l1, self.alpha)

    def _solver(self) -> ae.MiniBatch:
        return ae.MiniBatch(self.batch, self.rate)
