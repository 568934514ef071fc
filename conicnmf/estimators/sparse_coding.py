"""Non-negative sparse coding: atoms of norm one, an L1 penalty on the codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conicnmf.estimators.streaming import Streaming
from conicnmf.estimators.valid import RandomState
from conicnmf.model.constraints import NonNegative, UnitNorm
from conicnmf.model.penalties import L1
from conicnmf.model.terms import Term
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.methods.base import SolverLike


class NonNegativeSparseCoding(Streaming):
    """Minimize ‖X − codes · atoms‖² + weight · Σ codes, all non-negative, over atoms of norm one.

    `transform` is exact: each code is the minimizer of its non-negative Lasso.

    Parameters
    ----------
    n_components : int
        The number of atoms.
    weight : float
        The price of a unit of code, in the units of X.
    W, H : list of Term
        More terms on W = `components_.T` (features × atoms) and on H, the transposed codes.
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
    components_ : array of shape (atoms, features)
    result_ : Result
        The solve as `conicnmf.solve` returns it.
    sample_terms_ : tuple of Term
        The terms on H that `transform` obeys.
    reconstruction_err_ : float
        ‖X − codes · atoms‖ of the fitted samples, over the entries that are observed.
    n_iter_ : int
    status_ : Status

    References
    ----------
    Hoyer, Non-negative sparse coding, IEEE Neural Networks for Signal Processing 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import NonNegativeSparseCoding
    >>> X = np.random.default_rng(0).random((30, 12))
    >>> model = NonNegativeSparseCoding(4, weight=0.5).fit(X)
    >>> np.linalg.norm(model.components_, axis=1).round(6)
    array([1., 1., 1., 1.])
    """

    def __init__(
        self,
        n_components: Count = 10,
        *,
        weight: Weight = 0.1,
        W: Sequence[Term] = (),
        H: Sequence[Term] = (),
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
        self.weight = weight
        self.W = W
        self.H = H
        self.init = init

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        return [NonNegative(), UnitNorm(), *self.W], [NonNegative(), L1(self.weight), *self.H]
