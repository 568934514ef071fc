"""Autoencoders as scikit-learn estimators; samples are rows here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from conicnmf.estimators.base import as_seed
from conicnmf.estimators.coders import Coder, Encoder
from conicnmf.estimators.valid import RandomState, classes_of
from conicnmf.families import autoencoders as ae
from conicnmf.families.autoencoders.transfer import answer
from conicnmf.model.names import labels_of, with_labels
from conicnmf.results import Result
from conicnmf.settings import Count, Jobs, Place, Share, Weight, Whole
from conicnmf.solve.engine import solve
from conicnmf.study.workers import in_parallel, job
from conicnmf.types import Array


class SCFC(Encoder):
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
    checkpoint : str or Path, optional
        A file (.npz) in which a fit that was killed has its state; the same fit,
        called again, goes on from there.

    Attributes
    ----------
    components_ : array of shape (n_components, features)
    result_ : Result
        The solve, with the training codes H as a factor.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import SCFC
    >>> X = np.random.default_rng(0).random((40, 16))
    >>> SCFC(6, max_iter=20).fit_transform(X).shape
    (40, 6)
    """

    def __init__(
        self,
        n_components: Count = 16,
        *,
        sparseness_w: Share | None = 0.8,
        sparseness_h: Share | None = 0.7,
        nonneg: bool = False,
        q: int = 3,
        alpha_i: Weight = 0.5,
        ramp: Whole = 60,
        image_shape: tuple[Count, Count] | None = None,
        standardize: bool = False,
        max_iter: Whole = 120,
        random_state: RandomState = 0,
        checkpoint: Place | None = None,
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
        self.checkpoint = checkpoint

    def _problem(self, V: Array) -> ae.FastCodes:
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

    def _encoded(self, V: Array) -> Array:
        found = self.result_.factors
        return ae.encode(V, found["W"], found["theta"], found["beta"], self.q)

    def _init(self, V: Array) -> Any:
        return _windows(V, self.n_components, self.image_shape, as_seed(self.random_state))


def _windows(V: Array, n: int, image_shape: tuple[int, int] | None, seed: int) -> Any:
    return None if image_shape is None else {"W": ae.windows(V, n, image_shape, seed=seed)}


class SCFCClassifier(ClassifierMixin, Coder):
    """Filters that separate classes: one bank for each class against all others.

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
    n_jobs : int
        Processes for the banks; they do not change the answer.
    checkpoint : str or Path, optional
        A folder in which each bank of a fit that was killed has its state; the same fit,
        called again, goes on from there.

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
    >>> from conicnmf.estimators import SCFCClassifier
    >>> X = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * np.random.default_rng(0).random((40, 8))
    >>> y = np.repeat(["a", "b"], 20)
    >>> SCFCClassifier(4, max_iter=60, ramp=20).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        n_components: Count = 16,
        *,
        sparseness_w: Share | None = 0.8,
        sparseness_h: Share | None = 0.7,
        nonneg: bool = False,
        q: int = 3,
        alpha_i: Weight = 0.02,
        alpha_c: Weight = 0.98,
        ramp: Whole = 20,
        image_shape: tuple[Count, Count] | None = None,
        standardize: bool = False,
        max_iter: Whole = 100,
        random_state: RandomState = 0,
        n_jobs: Jobs = 1,
        checkpoint: Place | None = None,
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
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any) -> Self:
        """Learn one bank of filters for each class, or one for two classes.

        Parameters
        ----------
        X : array of shape (samples, features)
        y : array of shape (samples,)
            Class labels.
        """
        _, features = labels_of(X)
        V, y = self._columns(X, reset=True, y=y)
        self.classes_ = classes_of(y)
        ones = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        seed = as_seed(self.random_state)
        places = self._places(len(ones))
        own = (
            job(self._bank)(V, y == one, seed + i, places[i], features)
            for i, one in enumerate(ones)
        )
        self.results_ = list(in_parallel(self.n_jobs)(own))
        self.n_iter_ = max(result.n_iter for result in self.results_)
        return self

    def _places(self, banks: int) -> list[Path | None]:
        """Return where each bank keeps its state, in a folder that is made where there is none."""
        if self.checkpoint is None:
            return [None] * banks
        folder = Path(self.checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
        return [folder / f"bank-{i}.npz" for i in range(banks)]

    def _bank(self, V: Array, own: Any, seed: int, place: Path | None, features: Any) -> Result:
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
        statement = with_labels(statement, features)
        options: dict[str, Any] = {"stop": self.max_iter, "seed": seed, "checkpoint": place}
        result = solve(statement, ae.SCFC(ae.Ramp(self.ramp)), init=init, **options)
        return result.detached()

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

    def predict_proba(self, X: Any) -> Array:
        """Return shares of the classes: the answers of the banks from 0 to 1, divided by their sum.

        They order classes as `predict` does. They are not calibrated; scikit-learn's
        `CalibratedClassifierCV` does that.
        """
        answers = self.decision_function(X)
        if answers.ndim == 1:
            answers = np.stack([-answers, answers], axis=1)
        shares = (1 + answers) / 2
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1 / shares.shape[1])
        return np.asarray(np.divide(shares, total, out=even, where=total > 0))

    def predict(self, X: Any) -> Any:
        """Return the class whose bank answers most."""
        answers = self.decision_function(X)
        if answers.ndim == 1:
            return self.classes_[(answers > 0).astype(int)]
        return self.classes_[answers.argmax(axis=1)]
