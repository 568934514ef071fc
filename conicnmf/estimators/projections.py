"""Estimators with one factor: the codes are projections X · W, and W · codes gives X back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conicnmf.estimators.base import ComponentsOut, SolverParameters, as_seed
from conicnmf.estimators.sparse_nmf import Band, band
from conicnmf.estimators.valid import RandomState, validated
from conicnmf.families.one_factor import HebbianStream, OnlineHebbian
from conicnmf.families.one_factor import ProjectiveNMF as ProjectiveProblem
from conicnmf.model.base import BaseProblem
from conicnmf.model.losses import Frobenius
from conicnmf.model.losses.frobenius import squared_norm
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.terms import Constraint
from conicnmf.results import Result
from conicnmf.settings import Count, Jobs, Positive, Weight, Whole
from conicnmf.solve.methods.base import AnySolver, SolverLike
from conicnmf.types import Array, Data


class LinearProjection(ComponentsOut, SolverParameters):
    """Codes are X · `components_.T`, with non-negative components."""

    components_: Array

    def transform(self, X: Any) -> Array:
        """Return the projections of samples on the components."""
        check_is_fitted(self)
        X = self._valid(X, reset=False)
        return np.asarray(X @ self.components_.T.astype(X.dtype, copy=False))

    def _valid(self, X: Any, reset: bool, **checks: Any) -> Data:
        kinds = (np.float64, np.float32)
        return validated(self, X, reset=reset, accept_sparse=("csr", "csc"), dtype=kinds, **checks)

    def _keep(self, result: Result) -> Self:
        self.result_ = result.detached()  # a model that is kept does not keep the samples
        self.components_ = np.ascontiguousarray(result.W.T)
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Reconstruction(LinearProjection):
    """X ≈ X · Wᵀ · W with W = `components_` ≥ 0."""

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples that the codes represent."""
        check_is_fitted(self)
        return np.asarray(X @ self.components_)

    def score(self, X: Any, y: Any = None) -> float:
        """Return 1 − ‖X − codes · components‖²/‖X‖²."""
        V = self._valid(X, reset=False).T
        whole = squared_norm(V)
        W = self.components_.T
        left = Frobenius().value(V, W, np.asarray((V.T @ W).T))
        return 1 - left / whole if whole else float("nan")

    def _valid(self, X: Any, reset: bool, **checks: Any) -> Data:
        return super()._valid(X, reset, **({"ensure_non_negative": reset} | checks))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ProjectiveNMF(_Reconstruction):
    """Minimize ‖X − X · Wᵀ · W‖² over W = `components_` ≥ 0: parts that hardly overlap.

    Parameters
    ----------
    n_components : int
        The number of components.
    sparseness : float or (min, max), optional
        Each component is at least so sparse, or within the band.
    W : list of Constraint
        More constraints on `components_.T` (features × components).
    solver : Solver or str, optional
        A solver of `conicnmf.families.one_factor`, its name, or None for the one that fits best.
    max_iter, tol : int, float, optional
        The iteration limit, and the relative decrease of the objective at which the solver ends;
        None keeps the solver's own.
    n_starts : int
        The number of starts; the best result is kept.
    n_jobs : int
        Processes for several starts; they do not change the answer.
    random_state : int, RandomState or None
        A whole number is the seed of the first start.

    Attributes
    ----------
    components_ : array of shape (components, features)
    result_ : Result
        The solve as `conicnmf.solve` returns it.
    n_iter_ : int
    status_ : Status

    References
    ----------
    Yuan and Oja, Projective nonnegative matrix factorization for image compression and feature
    extraction, SCIA 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import ProjectiveNMF
    >>> rng, parts = np.random.default_rng(0), np.repeat(np.eye(2), 3, axis=1)
    >>> model = ProjectiveNMF(2).fit(rng.random((9, 2)) @ parts + 0.1 * rng.random((9, 6)))
    >>> (model.components_ > 0.5).astype(int).tolist()
    [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]
    """

    def __init__(
        self,
        n_components: Count = 2,
        *,
        sparseness: Band = None,
        W: Sequence[Constraint] = (),
        solver: SolverLike | None = None,
        max_iter: Whole | None = None,
        tol: Weight | None = 1e-4,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(solver, max_iter, tol, n_starts, random_state)
        self.n_jobs = n_jobs
        self.n_components = n_components
        self.sparseness = sparseness
        self.W = W

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            Non-negative.
        y : ignored
        """
        V = self._valid(X, reset=True).T
        bounds = [*band(self.sparseness, "component"), *self.W]
        problem = ProjectiveProblem(V, self.n_components, constraints=bounds)
        return self._keep(self._solve(with_labels(problem, *reversed(labels_of(X)))))


class HebbianNMF(_Reconstruction):
    """Projective NMF learned sample by sample: the non-negative linear Hebbian network.

    Parameters
    ----------
    n_components : int
        The number of components.
    rate : float
        The weight of the newest batch in the running average.
    batch : int
        Samples between two updates of the components.
    max_iter : int, optional
        How often `fit` passes over the samples, 3 by default; `partial_fit` passes once, in the
        order given.
    random_state : int, RandomState or None
        A whole number is the seed.

    Attributes
    ----------
    components_ : array of shape (components, features)
        After `partial_fit`, with largest singular value 1.
    n_iter_ : int
        Passes made.
    result_ : Result
        The last `fit` as `conicnmf.solve` returns it.
    status_ : Status

    References
    ----------
    Yang and Laaksonen, Multiplicative updates for non-negative projections, Neurocomputing 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import HebbianNMF
    >>> rng, model = np.random.default_rng(0), HebbianNMF(2)
    >>> for _ in range(20):
    ...     X = rng.random((50, 2)) @ np.repeat(np.eye(2), 3, axis=1)
    ...     model = model.partial_fit(X)
    >>> (model.components_ > 0.5).astype(int).tolist()
    [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    """

    def __init__(
        self,
        n_components: Count = 2,
        *,
        rate: Positive = 0.001,
        batch: Count = 1,
        max_iter: Whole | None = None,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(None, max_iter, None, 1, random_state)
        self.n_components = n_components
        self.rate = rate
        self.batch = batch

    def _solver(self, problem: BaseProblem) -> AnySolver:
        return OnlineHebbian(self.rate, self.batch)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components in a few passes over the samples, in random order.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            Non-negative.
        y : ignored
        """
        V = self._valid(X, reset=True).T
        self._stream: HebbianStream | None = None
        problem = with_labels(ProjectiveProblem(V, self.n_components), *reversed(labels_of(X)))
        return self._keep(self._solve(problem))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples; goes on from `fit` if that came before.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            Non-negative.
        y : ignored
        """
        first = not hasattr(self, "components_")
        V = self._valid(X, reset=first, **({} if first else {"ensure_non_negative": True})).T
        stream = getattr(self, "_stream", None)
        if stream is None:
            begin = None if first else self.components_.T
            seed = as_seed(self.random_state)
            stream = HebbianStream(self.n_components, self.rate, self.batch, seed, begin)
        self._stream = stream.partial_fit(V)
        self.components_ = np.ascontiguousarray(stream.W.T)
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        return self
