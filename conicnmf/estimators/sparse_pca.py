"""Sparse principal components: signed components with a band on their sparseness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conicnmf.errors import InputError
from conicnmf.estimators.base import FactorizationEstimator
from conicnmf.estimators.sparse_nmf import Band, band
from conicnmf.estimators.valid import RandomState, validated
from conicnmf.model.constraints import NormBall
from conicnmf.model.factorize import factorize
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.penalties import L2
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Term
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.methods.base import SolverLike
from conicnmf.solve.starts import Random, Start
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True)
class _PrincipalAxes(Start):
    """Start from the principal components of data that are given as U S, or a rotation of them."""

    turned: bool

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        V, rank = problem.V, problem.rank
        if rank > min(V.shape):
            return Random().factors(problem, rng)
        turn = np.linalg.qr(rng.standard_normal((rank, rank)))[0] if self.turned else np.eye(rank)
        sizes = np.linalg.norm(V, axis=0)
        axes = V[:, :rank] / np.where(sizes > 0, sizes, 1.0)[:rank]
        H = turn.T @ np.eye(rank, V.shape[1]) * sizes
        norms = np.linalg.norm(H, axis=1)
        safe = np.where(norms > 0, norms, 1.0)
        return {
            "W": (axes @ turn * safe).astype(V.dtype),
            "H": (H / safe[:, None]).astype(V.dtype),
        }


class SparsePCA(FactorizationEstimator):
    """X − mean ≈ codes · components, of any sign, with bounds on the sparseness of the components.

    The data are centered and divided by their norm. Without further bounds, components that nearly
    cancel each other would fit as well as meaningful ones and be sparser; so the coefficients of a
    component have norm at most one over all samples, and ridge · ‖W‖² is added to the loss.
    `transform` is least squares.

    Parameters
    ----------
    n_components : int
        The number of components.
    sparseness : float or (min, max), optional
        Each component is at least so sparse, or within the band; 0 is dense, 1 has one non-zero
        entry.
    ridge : float
        The weight of ‖W‖², relative to the squared norm of the data.
    solver : Solver or str
        A solver, its name, or None for the one that `solve` would pick.
    max_iter, tol : int, float, optional
        The iteration limit, and the relative decrease of the objective at which the solver ends;
        None keeps the solver's own.
    n_starts : int
        One start is from the principal components; the best of more is from random rotations of
        them.
    n_jobs : int
        Processes for several starts; they do not change the answer.
    random_state : int, RandomState or None
        A whole number is the seed of the first start.

    Attributes
    ----------
    components_ : array of shape (components, features)
        Of norm one, the largest entry positive, by falling contribution.
    mean_ : array of shape (features,)
    result_ : Result
        The solve as `conicnmf.solve` returns it, for the scaled principal axes of the data.
    reconstruction_err_ : float
        ‖X − mean − codes · components‖ of the fitted samples.
    n_iter_ : int
    status_ : Status

    References
    ----------
    Heiler and Schnörr, Reverse-convex programming for sparse image codes, EMMCVPR 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.estimators import SparsePCA
    >>> X = cn.datasets.three_factors(seed=0).V.T
    >>> model = SparsePCA(3, sparseness=0.53).fit(X)
    >>> bool(cn.sparseness(model.components_, axis=1).min() > 0.53 - 1e-6)
    True
    """

    mean_: Array

    def __init__(
        self,
        n_components: Count = 2,
        *,
        sparseness: Band = 0.5,
        ridge: Weight = 0.01,
        solver: SolverLike | None = "HALS",
        max_iter: Whole | None = None,
        tol: Weight | None = None,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(solver, max_iter, tol, n_starts, random_state)
        self.n_jobs = n_jobs
        self.n_components = n_components
        self.sparseness = sparseness
        self.ridge = ridge

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        W = band(self.sparseness, "component")
        return [*W, L2(self.ridge)], [NormBall(1.0)]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array of shape (samples, features)
        y : ignored
        """
        V, _ = self._data(X, reset=True)
        problem = with_labels(self._problem(V, None), labels_of(X)[1])
        result = self._solve(problem, _PrincipalAxes(self.n_starts > 1))
        self._keep(result, problem.fit.V, None)
        order = np.argsort(-np.linalg.norm(result.W, axis=0) * np.linalg.norm(result.H, axis=1))
        self.components_ = _oriented(result.W.T[order])
        error = self._squared_error(V, self._codes(V, None), None)
        self.reconstruction_err_ = float(np.sqrt(error))
        return self

    def _problem(self, V: Data, observed: Any) -> Problem:
        size = np.linalg.norm(V) or 1.0
        # The norms of H's rows alone are bounded: of V = U S Zᵀ, Z makes no difference.
        U, S, _ = np.linalg.svd(V / size, full_matrices=False)
        W, H = self._terms()
        return factorize(U * S, self.n_components, W=W, H=H)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit and return the codes of the samples."""
        return self.fit(X, y).transform(X)

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples that the codes represent."""
        check_is_fitted(self)
        return np.asarray(super().inverse_transform(X) + self.mean_)

    def _data(self, X: Any, reset: bool) -> tuple[Data, Any]:
        least = 2 if reset else 1
        X = validated(
            self, X, reset=reset, dtype=(np.float64, np.float32), ensure_min_samples=least
        )
        if reset:
            if (X[0] == X).all():  # of which a mean may differ by its rounding
                raise InputError(
                    f"SparsePCA needs samples that differ, got the same sample {len(X)} times; samples "
                    "are rows of X"
                )
            self.mean_ = X.mean(axis=0)
        return np.ascontiguousarray((X - self.mean_).astype(X.dtype, copy=False).T), None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = False
        return tags


def _oriented(rows: Array) -> Array:
    """Return rows of norm one whose largest entry is positive."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1.0)
    peaks = unit[np.arange(len(unit)), np.abs(unit).argmax(axis=1)]
    return np.ascontiguousarray(unit * np.where(peaks < 0, -1.0, 1.0).astype(unit.dtype)[:, None])
