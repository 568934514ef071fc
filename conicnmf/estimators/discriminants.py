"""Fisher's discriminant with non-negative weights, of features or of samples in a kernel space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from conicnmf.estimators.projections import LinearProjection
from conicnmf.estimators.sparse_nmf import Band, band
from conicnmf.estimators.valid import RandomState, classes_of
from conicnmf.families.one_factor import Discriminant, KernelDiscriminant, QuadraticProjection
from conicnmf.families.one_factor.kernel import kernel_between
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.terms import Constraint
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.methods.base import SolverLike
from conicnmf.types import Array, Data


class _Supervised(LinearProjection):
    """A projection on one direction that separates classes."""

    def _labeled(self, X: Any, y: Any) -> tuple[Data, Any]:
        X, y = self._valid(X, reset=True, y=y)
        self.classes_ = classes_of(y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class NonNegativeLDA(_Supervised):
    """The direction w ≥ 0 on which the class means are farthest apart for the spread within.

    It maximizes wᵀS_B w / wᵀ(S_W + ridge)w; for two classes the answer is globally optimal.

    Parameters
    ----------
    sparseness : float or (min, max), optional
        w is at least so sparse, or within the band.
    ridge : float
        Added to S_W, in units of its mean diagonal.
    W : list of Constraint
        More constraints on w (features × 1).
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
    components_ : array of shape (1, features)
        w.
    classes_ : array
    result_ : Result
        The solve as `conicnmf.solve` returns it; −2 times its objective is the ratio.
    n_iter_ : int
    status_ : Status

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import NonNegativeLDA
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 0.5], [5.0, 1.0]])
    >>> NonNegativeLDA(ridge=0).fit(X, [0, 0, 1, 1]).transform(X).round(1).ravel()
    array([ 1. ,  2.1,  8.9, 11.5])
    """

    def __init__(
        self,
        *,
        sparseness: Band = None,
        ridge: Weight = 0.01,
        W: Sequence[Constraint] = (),
        solver: SolverLike | None = None,
        max_iter: Whole | None = None,
        tol: Weight | None = None,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(solver, max_iter, tol, n_starts, random_state)
        self.n_jobs = n_jobs
        self.sparseness = sparseness
        self.ridge = ridge
        self.W = W

    def fit(self, X: Any, y: Any) -> Self:
        """Find the direction.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : array of shape (samples,)
            The classes.
        """
        _, features = labels_of(X)
        X, y = self._labeled(X, y)
        bounds = [*band(self.sparseness, "component"), *self.W]
        problem = Discriminant(X.T, y, ridge=self.ridge, constraints=bounds)
        return self._keep(self._solve(with_labels(problem, features)))


class NonNegativeKernelFDA(_Supervised):
    """Fisher's discriminant in a kernel space, with a weight ≥ 0 for each fitted sample.

    `transform` returns Σ αᵢ k(xᵢ, x), up to a constant when the kernel is centered.

    Parameters
    ----------
    kernel : str or callable
        As in scikit-learn's `pairwise_kernels`.
    kernel_params : dict, optional
        Parameters of the kernel, such as ``{"gamma": 0.1}``.
    center : bool
        Center the kernel, so that a projection that is the same for all samples counts for
        nothing.
    ridge : float
        Added to K K, in units of its mean diagonal; a centered kernel is singular without it.
    sparseness : float or (min, max), optional
        The weights are at least so sparse, or within the band.
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
    dual_coef_ : array of shape (fitted samples,)
        The weights α.
    X_fit_ : array or sparse matrix of shape (fitted samples, features)
    classes_ : array
    result_ : Result
        The solve as `conicnmf.solve` returns it; −2 times its objective is the share of the
        projections' squares that class means explain.
    n_iter_ : int
    status_ : Status

    References
    ----------
    Yang and Laaksonen, Multiplicative updates for non-negative projections, Neurocomputing 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import NonNegativeKernelFDA
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 0.5], [5.0, 1.0]])
    >>> z = NonNegativeKernelFDA().fit(X, [0, 0, 1, 1]).transform(X).ravel()
    >>> bool(z[:2].max() < z[2:].min() or z[2:].max() < z[:2].min())
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        ridge: Weight = 0.01,
        sparseness: Band = None,
        solver: SolverLike | None = None,
        max_iter: Whole | None = None,
        tol: Weight | None = None,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(solver, max_iter, tol, n_starts, random_state)
        self.n_jobs = n_jobs
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.center = center
        self.ridge = ridge
        self.sparseness = sparseness

    def fit(self, X: Any, y: Any) -> Self:
        """Find the weights of the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : array of shape (samples,)
            The classes.
        """
        samples, _ = labels_of(X)
        X, y = self._labeled(X, y)
        plain = KernelDiscriminant(
            X.T, y, self.kernel, center=self.center, **(self.kernel_params or {})
        )
        problem = QuadraticProjection(
            plain.A,
            norm=_ridged(plain, self.ridge),
            constraints=band(self.sparseness, "component"),
        )
        self._keep(self._solve(with_labels(problem, samples)))
        self.X_fit_ = X
        self.dual_coef_ = self.components_[0]
        return self

    def transform(self, X: Any) -> Array:
        """Return the projections of samples in the kernel space."""
        check_is_fitted(self)
        X = self._valid(X, reset=False)
        if _same(X, self.X_fit_):
            X = self.X_fit_  # distances of a sample to itself are exact for one and the same array
        K = kernel_between(X, self.X_fit_, self.kernel, **(self.kernel_params or {}))
        # Centered as the kernel was, up to a constant.
        alpha = self.dual_coef_ - self.dual_coef_.mean() if self.center else self.dual_coef_
        return np.asarray((K @ alpha)[:, None]).astype(X.dtype, copy=False)


def _same(X: Any, other: Any) -> bool:
    """Whether two arrays, or two sparse matrices, hold the same numbers."""
    if X.shape != other.shape or sp.issparse(X) != sp.issparse(other):
        return False
    differ = other != X
    return not (differ.nnz if sp.issparse(differ) else differ.any())


def _ridged(problem: QuadraticProjection, ridge: float) -> Array:
    """Return the norm of a problem with a ridge in units of its mean diagonal."""
    assert problem.norm is not None
    matrix = problem.norm.matrix()
    return np.asarray(matrix + ridge * np.trace(matrix) / len(matrix) * np.eye(len(matrix)))
