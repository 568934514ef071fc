"""The general estimator: any terms on either factor, any loss, any solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conicnmf.estimators.base import FactorizationEstimator
from conicnmf.estimators.valid import RandomState
from conicnmf.model.constraints import NonNegative
from conicnmf.model.terms import Loss, Term
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.methods.base import SolverLike


class Factorizer(FactorizationEstimator):
    """A factorization with the given terms on the components and on the codes.

    Parameters
    ----------
    n_components : int
        The number of components.
    W : list of Term, optional
        Terms on W = `components_.T`, features × components; `NonNegative` alone by default.
    H : list of Term, optional
        Terms on H, the transposed codes, components × samples; `NonNegative` alone by default.
    loss : Loss or str, optional
        Squared Frobenius by default, or for example "kl" for counts and "huber" against outliers.
        Missing entries are NaN in X and need no loss of their own.
    solver : Solver or str, optional
        A solver, its name, or None for the one that fits best.
    init : Start, optional
        Where to start, at random by default.
    max_iter, tol : int, float, optional
        The iteration limit, and the relative decrease of the objective at which the solver ends;
        None keeps the solver's own.
    n_starts : int
        The number of starts; the best result is kept.
    n_jobs : int
        Processes for several starts; they do not change the answer.
    random_state : int, RandomState or None
        A whole number is the seed of the first start.
    n_threads : int, optional
        Threads for work that goes sample by sample, NUMBA_NUM_THREADS by default; they do not change
        the answer.

    Attributes
    ----------
    components_ : array of shape (components, features)
    result_ : Result
        The solve as `conicnmf.solve` returns it.
    sample_terms_ : tuple of Term
        The terms on H that `transform` obeys: those that apply to each sample by itself.
    reconstruction_err_ : float
        ‖X − codes · components‖ of the fitted samples, over the entries that are observed.
    n_iter_ : int
    status_ : Status

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.estimators import Factorizer
    >>> X = np.random.default_rng(0).random((20, 6))
    >>> model = Factorizer(3, H=[cn.Simplex(each="sample")]).fit(X)
    >>> model.transform(X[:2]).sum(axis=1).round(6)
    array([1., 1.])
    """

    def __init__(
        self,
        n_components: Count = 10,
        *,
        W: Sequence[Term] | None = None,
        H: Sequence[Term] | None = None,
        loss: Loss | str | None = None,
        solver: SolverLike | None = None,
        init: Any = None,
        max_iter: Whole | None = None,
        tol: Weight | None = None,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
        n_threads: Count | None = None,
    ) -> None:
        super().__init__(solver, max_iter, tol, n_starts, random_state)
        self.n_jobs = n_jobs
        self.n_components = n_components
        self.n_threads = n_threads
        self.W = W
        self.H = H
        self.loss = loss
        self.init = init

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        default = (NonNegative(),)
        return default if self.W is None else self.W, default if self.H is None else self.H
