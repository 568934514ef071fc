"""What every factorization estimator shares; samples are rows here and are transposed here only."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from conicnmf.errors import InputError, SolveError
from conicnmf.estimators.lazy import (
    as_rows_of_dask,
    coded,
    is_dask,
    names_of_dask,
    split_missing,
    squared_size,
)
from conicnmf.estimators.valid import RandomState, validated
from conicnmf.families.coding.sample_codes import find_codes
from conicnmf.incoming import as_csr
from conicnmf.kernels.threads import threads
from conicnmf.model.base import BaseProblem
from conicnmf.model.factorize import factorize
from conicnmf.model.known import as_loss
from conicnmf.model.losses import Frobenius, WeightedFrobenius
from conicnmf.model.losses.frobenius import squared_norm
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss, Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.results import Result, Status
from conicnmf.results.entries import as_places, product_entries
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.choice import choose
from conicnmf.solve.engine import solve
from conicnmf.solve.methods.base import AnySolver, SolverLike, as_solver
from conicnmf.solve.stop import AnyOf, MaxIter, RelDecrease, Stop
from conicnmf.study.multistart import multistart
from conicnmf.types import Array, Data

if TYPE_CHECKING:
    from conicnmf.study.certificate import Certificate


class ComponentsOut(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A transformer with one feature out for each of its `components_`, in the type of X."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SolverParameters(BaseEstimator):
    """The parameters that say how a problem is solved, and the solving itself.

    Subclasses have the parameters `solver`, `max_iter`, `tol`, `n_starts` and `random_state`, and
    `n_threads` where work goes sample by sample.
    """

    n_threads: Count | None = None
    n_jobs: Jobs = 1
    verbose: int = 0

    def __init__(
        self,
        solver: SolverLike | None,
        max_iter: Whole | None,
        tol: Weight | None,
        n_starts: Count,
        random_state: RandomState,
    ) -> None:
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_starts = n_starts
        self.random_state = random_state

    def _solver(self, problem: BaseProblem) -> AnySolver:
        return choose(problem)[0] if self.solver is None else as_solver(self.solver)

    def _solve(self, problem: BaseProblem, init: Any = None) -> Result:
        """Return the best result of `n_starts` starts."""
        solver = self._solver(problem)
        stop = self._stop(solver)
        seed = as_seed(self.random_state)
        with threads(self.n_threads):
            if self.n_starts == 1:
                shown = bool(self.verbose)
                result = solve(problem, solver, init=init, stop=stop, seed=seed, progress=shown)
            else:
                options = {"seed": seed, "init": init, "stop": stop, "n_jobs": self.n_jobs}
                result = multistart(problem, solver, self.n_starts, **options).best
        if result.status.kind == "failed":
            raise SolveError(f"{result.status.name}: {result.status.value}", result)
        # A rule that only counts has not been cut short.
        if result.status is Status.MAX_ITER and not isinstance(stop, MaxIter):
            warnings.warn(self._cut_short(solver, result), ConvergenceWarning, stacklevel=3)
        return result

    def _stop(self, solver: AnySolver) -> Stop:
        return stop_rule(solver, self.max_iter, self.tol)

    def _cut_short(self, solver: AnySolver, result: Result) -> str:
        """Return what is said of a fit that its iteration limit has ended."""
        return (
            f"{solver.name} reached the limit of {result.n_iter} iterations; raise max_iter or tol"
        )


class FactorizationEstimator(ComponentsOut, SolverParameters):
    """X ≈ codes · components: fit finds both, transform finds codes of new samples.

    A subclass says with `_terms` what is asked of W (features × components) and of H
    (components × samples).
    """

    n_components: Any
    loss: Loss | str | None = None
    init: Any = None
    components_: Array
    sample_terms_: tuple[Term, ...]

    @property
    def _rank(self) -> int:
        """The number of components of a fit."""
        return int(self.n_components)

    def _loss(self) -> Loss:
        return Frobenius() if self.loss is None else as_loss(self.loss)

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        """Return the terms on W and on H."""
        raise TypeError(f"{type(self).__name__} must define _terms()")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find components and codes of the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            NaN marks a missing entry. A Dask array or frame is fitted by the workers of the
            current `Client`, or of a local cluster for the call.
        y : ignored
        """
        V, observed = self._samples(X, reset=True)
        samples, features = names_of_dask(X) if is_dask(X) else labels_of(X)
        problem = with_labels(self._problem(V, observed), features, samples)
        return self._keep(self._solve(problem, self.init), V, observed)

    def _problem(self, V: Data, observed: Any) -> Problem:
        """Return the problem that a fit to these samples solves."""
        W, H = self._terms()
        loss = self._loss()
        if observed is not None and "masked" not in loss.abilities:
            raise InputError(
                f"{loss} counts every entry, and X has NaN; fill them in, or use a loss with weights"
            )
        own = loss if observed is None else loss.masked(observed)
        return factorize(V, self._rank, loss=own, W=W, H=H)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Return the codes of the samples that were fitted.

        They are what `transform` gives for these samples, but where terms tie samples together:
        then they are the codes of the fit, which obey those terms too.
        """
        self.fit(X, y)
        tied = not all(map(of_one_sample, self._terms()[1]))
        return np.ascontiguousarray(self.result_.H.T) if tied else self.transform(X)

    def transform(self, X: Any) -> Array:
        """Return the codes of samples, which obey every term on H that applies to single samples.

        Terms that tie samples together, such as the sparseness of a component's coefficients over
        all samples, mean nothing for a sample by itself and are left out; `sample_terms_` lists
        those that hold. Samples of Dask are coded chunk by chunk, when the codes are computed.
        """
        check_is_fitted(self)
        if is_dask(X):
            rows = as_rows_of_dask(self, X, reset=False)
            return coded(rows, self._rows_coded, len(self.components_))  # type: ignore[no-any-return]
        V, observed = self._data(X, reset=False)
        return np.ascontiguousarray(self._codes(V, observed).T)

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples that the codes represent."""
        check_is_fitted(self)
        codes = X.toarray() if sp.issparse(X) else np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.components_):
            raise InputError(
                f"codes must have {len(self.components_)} columns, one per component, got shape "
                f"{codes.shape}; pass what transform returned"
            )
        return np.asarray(codes @ self.components_)

    def predict_entries(self, X: Any, samples: Any, features: Any) -> Array:
        """Return the model's value at chosen entries of X, such as its NaN.

        Only the samples that are asked for are coded, and no other entry is computed. Entries of the
        samples that were fitted are in ``result_.predict_entries(features, samples)`` as well.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        samples, features : array of int
            Places in X that broadcast as in ``X[samples, features]``.

        Examples
        --------
        >>> import numpy as np
        >>> from conicnmf.estimators import SparseNMF
        >>> X = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
        >>> X[2, 2] = np.nan
        >>> SparseNMF(1).fit(X).predict_entries(X, [2], [2]).round(3)
        array([6.])
        """
        check_is_fitted(self)
        V, observed = self._data(X, reset=False)
        chosen, places = np.unique(as_places(samples, "samples", V.shape[1]), return_inverse=True)
        seen = None if observed is None else observed[:, chosen]
        codes = self._codes(V[:, chosen], seen).T
        places = places.reshape(np.shape(samples))
        return product_entries(codes, self.components_, places, features)

    def score(self, X: Any, y: Any = None) -> float:
        """Return 1 − ‖X − codes · components‖²/‖X‖², over the entries that are observed."""
        check_is_fitted(self)
        V, observed = self._data(X, reset=False)
        whole = squared_norm(V)
        left = self._squared_error(V, self._codes(V, observed), observed)
        return 1 - left / whole if whole else float("nan")

    def certificate(self, X: Any, **tolerances: Any) -> Certificate:
        """Check the fit independently of the solver; see `conicnmf.certify`.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            The samples that were fitted, which the model does not keep; others are refused.
        **tolerances
            `feasibility` and `stationarity`, as of `conicnmf.certify`.

        Examples
        --------
        >>> import numpy as np
        >>> from conicnmf.estimators import SparseNMF
        >>> X = np.random.default_rng(0).random((12, 5))
        >>> SparseNMF(2).fit(X).certificate(X).proves
        'stationary'
        """
        check_is_fitted(self)
        result = getattr(self, "result_", None)
        if result is None or not np.array_equal(result.W.T, self.components_):
            raise InputError(
                f"certificate needs one solve for all samples, got {type(self).__name__} learned "
                "batch by batch; use fit, of NMF or SparseNMF"
            )
        problem = self._problem(*self._samples(X, reset=False))
        return self.result_.certificate(problem, **tolerances)

    def _codes(self, V: Data, observed: Any) -> Array:
        return self._found(V, observed)

    def _found(self, V: Data, observed: Any, *limit: int) -> Array:
        """Return the codes of samples by the components as they are now."""
        W = np.ascontiguousarray(self.components_.T).astype(V.dtype, copy=False)
        with threads(self.n_threads):
            return find_codes(V, W, self.sample_terms_, self._loss(), observed, *limit)

    def _keep(self, result: Result, V: Data, observed: Any) -> Self:
        """Set what users read after a fit."""
        self.result_ = result.detached()  # a model that is kept does not keep the samples
        self.components_ = np.ascontiguousarray(result.W.T)
        # What says nothing about codes of this length was left out of the fit.
        self.sample_terms_ = tuple(
            term
            for term in self._terms()[1]
            if of_one_sample(term) and not term.idle(result.H.shape)
        )
        self.reconstruction_err_ = float(np.sqrt(self._left_over(result, V, observed)))
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        return self

    def _left_over(self, result: Result, V: Data, observed: Any) -> float:
        """Return the squared error of a fit."""
        if is_dask(V):
            return result.relative_error * squared_size(V, observed)
        return self._squared_error(V, result.H, observed)

    def _squared_error(self, V: Data, H: Array, observed: Any) -> float:
        if observed is not None and not observed.any():
            return 0.0
        loss: Loss = Frobenius() if observed is None else WeightedFrobenius(observed)
        return loss.value(V, self.components_.T, H)

    def _samples(self, X: Any, reset: bool) -> tuple[Any, Any]:
        """Return the same as `_data`, for samples of Dask without computing them."""
        return (
            split_missing(as_rows_of_dask(self, X, reset)) if is_dask(X) else self._data(X, reset)
        )

    def _data(self, X: Any, reset: bool) -> tuple[Data, Any]:
        """Return V = Xᵀ with zeros for missing entries, and which entries are observed."""
        X = validated(
            self,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
        )
        return self._transposed(X)

    def _rows_coded(self, X: Any) -> Array:
        """Return the codes of samples that were checked as a whole."""
        return np.ascontiguousarray(self._codes(*self._transposed(X)).T)

    @staticmethod
    def _transposed(X: Any) -> tuple[Data, Any]:
        values = X.data if sp.issparse(X) else X
        missing = np.isnan(values)
        if not missing.any():
            return (as_csr(X.T, "X") if sp.issparse(X) else X.T), None
        if sp.issparse(X):
            raise InputError(
                f"sparse X must be finite, got {int(missing.sum())} NaN entries; missing entries "
                "need dense data, use X.toarray()"
            )
        return np.where(missing, 0, X).T, ~missing.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def stop_rule(solver: AnySolver, max_iter: int | None, tol: float | None) -> Stop:
    """Return the solver's own rule with another limit or tolerance, where one is given.

    Examples
    --------
    >>> import conicnmf as cn
    >>> stop_rule(cn.HALS(), 20, None)
    MaxIter(limit=20) | RelDecrease(rtol=1e-05, patience=3)
    """

    def changed(rule: Stop) -> Stop:
        if isinstance(rule, AnyOf):
            return AnyOf(tuple(changed(one) for one in rule.rules))
        if isinstance(rule, MaxIter) and max_iter is not None:
            return MaxIter(max_iter)
        if isinstance(rule, RelDecrease) and tol is not None:
            return replace(rule, rtol=tol)
        return rule

    return changed(solver.default_stop)


def as_seed(random_state: Any) -> int:
    """Return a whole number as it is, and draw one from anything else scikit-learn accepts.

    Examples
    --------
    >>> as_seed(7)
    7
    """
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
