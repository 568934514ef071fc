"""Non-negative factorization of one batch after the other, as scikit-learn's `MiniBatchNMF`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from conicnmf.errors import InputError
from conicnmf.estimators.base import as_seed
from conicnmf.estimators.remembered import Remembered, remembered
from conicnmf.estimators.scikit_form import BetaLoss, Init, Rank, ScikitForm
from conicnmf.estimators.sparse_nmf import Band
from conicnmf.estimators.valid import RandomState
from conicnmf.model.blocks import fitted_block
from conicnmf.model.factorize import factorize
from conicnmf.model.terms import Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.settings import Count, Share, Weight
from conicnmf.solve.engine import solve
from conicnmf.solve.methods import Multiplicative
from conicnmf.solve.methods.multiplicative import multiplicative_step
from conicnmf.types import Array, Data

_FALL = 1e-12
"""A smaller part of the average cost is rounding, and no improvement."""


class MiniBatchNMF(ScikitForm):
    """X ≈ codes · components, learned from a batch of samples at a time.

    The parameters, attributes and the objective are those of `sklearn.decomposition.MiniBatchNMF`.
    Of past batches a sum of functions of the components is kept, which fades: for squares two small
    matrices, minimized one component after the other, for other losses bounds entry by entry.

    Parameters
    ----------
    n_components : int, "auto" or None
        The number of components; as many as features by default, or as the start given has.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}, Start or None
        Where to start; "custom" takes W and H of `fit_transform`.
    batch_size : int
        Samples in a batch.
    beta_loss : float or {"frobenius", "kullback-leibler", "itakura-saito"}
        The β-divergence of X from the model; β = 2 is half the squares.
    tol : float
        The relative change of the components in a pass over the samples at which the fit ends.
    max_no_improvement : int or None
        The fit ends after this many steps without a lower average cost.
    max_iter : int
        How often all samples are seen at most.
    alpha_W, alpha_H, l1_ratio : float
        Penalties on codes and components, as of `NMF`.
    forget_factor : float
        What is left of the past after all samples were seen once; 0 forgets every batch.
    fresh_restarts : bool
        Compute the codes of a batch again each time. Codes of squares are exact in any case.
    fresh_restarts_max_iter, transform_max_iter : int, int or None
        The most steps for codes of other losses in a fit, and in `transform`.
    random_state : int, RandomState or None
        A whole number is the seed.
    verbose : int
        Accepted as scikit-learn does; this estimator says nothing.
    sparseness, code_sparseness : float or (min, max), optional
        Each component, or each sample's code, has Hoyer sparseness of at least so much, or within
        the band; of components for squares only.
    component_terms, code_terms : list of Term
        More terms on the components, for squares only, and on the code of each sample.

    Attributes
    ----------
    components_ : array of shape (components, features)
    n_components_, n_iter_, n_steps_ : int
        Components, passes over the samples, and batches.
    reconstruction_err_ : float
        ‖X − codes · components‖ of the fitted samples, for other losses √(2 · divergence).
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import MiniBatchNMF
    >>> X = np.random.default_rng(0).random((60, 8))
    >>> model = MiniBatchNMF(3, batch_size=20, random_state=0).fit(X)
    >>> model.transform(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        n_components: Rank = "auto",
        *,
        init: Init = None,
        batch_size: Count = 1024,
        beta_loss: BetaLoss = "frobenius",
        tol: Weight = 1e-4,
        max_no_improvement: Count | None = 10,
        max_iter: Count = 200,
        alpha_W: Weight = 0.0,
        alpha_H: Weight | Literal["same"] = "same",
        l1_ratio: Share = 0.0,
        forget_factor: Share = 0.7,
        fresh_restarts: bool = False,
        fresh_restarts_max_iter: Count = 30,
        transform_max_iter: Count | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sparseness: Band = None,
        code_sparseness: Band = None,
        component_terms: Sequence[Term] = (),
        code_terms: Sequence[Term] = (),
    ) -> None:
        own = beta_loss, tol, max_iter, random_state, alpha_W, alpha_H, l1_ratio, verbose
        more = sparseness, code_sparseness, component_terms, code_terms
        super().__init__(n_components, init, *own, *more)
        self.batch_size = batch_size
        self.max_no_improvement = max_no_improvement
        self.forget_factor = forget_factor
        self.fresh_restarts = fresh_restarts
        self.fresh_restarts_max_iter = fresh_restarts_max_iter
        self.transform_max_iter = transform_max_iter

    def fit(self, X: Any, y: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Find components from one batch after the other.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : ignored
        W, H : array, optional
            Codes and components to start from, with `init="custom"`.
        """
        self.fit_transform(X, W=W, H=H)
        return self

    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Array:
        """Find components from one batch after the other, and return the codes of the samples."""
        V, _ = self._data(X, reset=True)
        start = self._begin(V, W, H)
        whole = self.batch_size >= V.shape[1] and self.forget_factor == 0
        codes = self._fit_at_once(V, start) if whole else self._fit_batches(V, start)
        self.n_components_ = len(self.components_)
        self.reconstruction_err_ = self._divergence(V, codes, None)
        if self.n_iter_ == self.max_iter and self.tol > 0:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve "
                "convergence.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return np.ascontiguousarray(codes.T)

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Self:
        """Improve the components by one more batch.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : ignored
        W, H : array, optional
            Codes and components to start from in the first call, with `init="custom"`.
        """
        first = not hasattr(self, "components_")
        V, _ = self._data(X, reset=first)
        if first:
            self._set_out(V, self._begin(V, W, H))
        self._n_samples = V.shape[1]
        self._learn(V, self._batch_codes(V, None), self.forget_factor)
        self.n_steps_ += 1
        return self

    def _fit_at_once(self, V: Data, start: Any) -> Array:
        """Take steps with all samples; without a past these are the multiplicative rule."""
        with warnings.catch_warnings():  # as in scikit-learn
            warnings.filterwarnings("ignore", "the scale of")
            result = solve(
                self._problem(V, None),
                Multiplicative(),
                init=start,
                stop=self.max_iter,
                seed=as_seed(self.random_state),
            )
        self._set_out(V, (result.W, result.H))
        self.n_iter_ = self.n_steps_ = result.n_iter
        return result.H

    def _fit_batches(self, V: Data, start: Any) -> Array:
        count = V.shape[1]
        codes = self._set_out(V, start)
        V = V.tocsc() if hasattr(V, "tocsc") else V
        batches = list(gen_batches(count, int(self.batch_size)))
        left = self.forget_factor ** (min(self.batch_size, count) / count)
        trend, before = Trend(), self.components_
        for batch in self._in_turn(batches):
            own = V[:, batch]
            self._n_samples = own.shape[1]
            codes[:, batch] = self._batch_codes(own, codes[:, batch])
            cost = self._learn(own, codes[:, batch], left)
            self.n_steps_ += 1
            if self.n_steps_ > 1:  # the first cost is that of the start
                trend = trend.then(cost, min(own.shape[1] / (count + 1), 1.0))
            if self.max_no_improvement is not None and trend.idle >= self.max_no_improvement:
                break
            if self.n_steps_ % len(batches) == 0:  # one batch alone may have nothing to say
                if self._at_rest(before):
                    break
                before = self.components_
        self.n_iter_ = -(-self.n_steps_ // len(batches))
        self._n_samples = count
        return self._codes(V, None)

    def _in_turn(self, batches: list[slice]) -> Iterator[slice]:
        return islice(cycle(batches), self.max_iter * len(batches))

    def _set_out(self, V: Data, start: Any) -> Array:
        """Begin with the components of a start, and return its codes."""
        rng = np.random.default_rng(as_seed(self.random_state))
        begun = self._problem(V, None).start(start, rng)
        self.components_ = np.ascontiguousarray(begun["W"].T)
        self.n_components_ = len(self.components_)
        self.sample_terms_ = tuple(t for t in self._terms()[1] if of_one_sample(t))
        self._past: Remembered | None = None
        self.n_steps_ = 0
        return np.array(begun["H"])

    def _batch_codes(self, V: Data, codes: Array | None) -> Array:
        """Return the codes of a batch: exact, or a few steps from the last ones."""
        A, loss = self.components_.T, self._loss()
        block, held = fitted_block("H", V, A, loss, self.sample_terms_)
        if "quadratic" in block.abilities or not block.orthant_only or block.shaped:
            return self._codes(V, None)
        steps = 1
        if codes is None or self.fresh_restarts:
            level = np.sqrt(V.mean() / len(self.components_))
            codes = np.full(block.shape, level, dtype=V.dtype)
            steps = self.fresh_restarts_max_iter
        for _ in range(steps):
            codes = multiplicative_step(held, codes)
        return codes.astype(V.dtype, copy=False)

    def _learn(self, V: Data, codes: Array, left: float) -> float:
        """Improve the components by a batch, and return what it cost a sample before that."""
        W, H = self._terms()
        block = factorize(V, self._rank, loss=self._loss(), W=W, H=H).blocks[0]
        factors = {"W": self.components_.T, "H": codes}
        new, B = remembered(block, factors), self.components_
        cost = block.given(factors).objective(B) / V.shape[1]
        self._past = new if self._past is None else self._past.faded(left, new)
        own = self._past.lowered(block, B.astype(np.float64)).astype(B.dtype)
        self.components_ = np.ascontiguousarray(own)
        return float(cost)

    def _at_rest(self, before: Array) -> bool:
        size = float(np.linalg.norm(self.components_))
        return float(np.linalg.norm(self.components_ - before)) <= self.tol * size > 0

    def _codes(self, V: Data, observed: Any) -> Array:
        limit = self.max_iter if self.transform_max_iter is None else self.transform_max_iter
        return self._found(V, observed, limit)

    def _data(self, X: Any, reset: bool) -> tuple[Data, Any]:
        V, observed = super()._data(X, reset)
        if observed is not None:
            raise InputError("X contains NaN, and batches need complete samples; use NMF")
        return V, observed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


@dataclass(frozen=True)
class Trend:
    """The average cost of batches, its lowest value, and the steps since then."""

    cost: float = np.inf
    lowest: float = np.inf
    idle: int = 0

    def then(self, cost: float, share: float) -> Trend:
        """Return the trend with one more batch, which counts by its share of the samples.

        Examples
        --------
        >>> Trend().then(2.0, 0.5).then(4.0, 0.5)
        Trend(cost=3.0, lowest=2.0, idle=1)
        """
        mean = cost if self.cost == np.inf else (1 - share) * self.cost + share * cost
        fell = self.lowest == np.inf or self.lowest - mean > _FALL * abs(self.lowest)
        return Trend(mean, min(mean, self.lowest), 0 if fell else self.idle + 1)
