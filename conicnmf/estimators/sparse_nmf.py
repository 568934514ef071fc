"""Non-negative factorization with bands on the sparseness of components and codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from conicnmf.estimators.streaming import Streaming
from conicnmf.estimators.valid import RandomState
from conicnmf.model.constraints import NonNegative, Sparseness
from conicnmf.model.terms import Loss, Pieces, Term
from conicnmf.settings import Count, Jobs, Share, Weight, Whole
from conicnmf.solve.methods.base import SolverLike

Band: TypeAlias = Share | tuple[Share, Share] | None
"""A lower bound on sparseness, or (least, most)."""


class SparseNMF(Streaming):
    """X ≈ codes · components, both non-negative, with bounds on their Hoyer sparseness.

    Parameters
    ----------
    n_components : int
        The number of components.
    sparseness : float or (min, max), optional
        Each component is at least so sparse, or within the band; 0 is dense, 1 has one non-zero
        entry.
    code_sparseness : float or (min, max), optional
        The same for the codes.
    code_each : {"sample", "component"}
        Whether `code_sparseness` applies to the code of each sample, or to the coefficients of each
        component over all samples. The latter links samples: it holds for the codes that
        `fit_transform` returns and is left out by `transform`.
    W, H : list of Term
        More terms on W = `components_.T` (features × components) and on H, the transposed codes.
    loss : Loss or str, optional
        Squared Frobenius by default, or for example "kl" for counts and "huber" against outliers.
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

    References
    ----------
    Hoyer, Non-negative matrix factorization with sparseness constraints, JMLR 2004.
    Heiler and Schnörr, Learning sparse representations by non-negative matrix factorization and
    sequential cone programming, JMLR 2006.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.estimators import SparseNMF
    >>> X = np.random.default_rng(0).random((30, 12))
    >>> model = SparseNMF(3, sparseness=0.6).fit(X)
    >>> bool(cn.sparseness(model.components_, axis=1).min() > 0.6 - 1e-6)
    True
    """

    def __init__(
        self,
        n_components: Count = 10,
        *,
        sparseness: Band = None,
        code_sparseness: Band = None,
        code_each: Literal["sample", "component"] = "sample",
        W: Sequence[Term] = (),
        H: Sequence[Term] = (),
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
        self.sparseness = sparseness
        self.code_sparseness = code_sparseness
        self.code_each = code_each
        self.W = W
        self.H = H
        self.loss = loss
        self.init = init

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        W = band(self.sparseness, "component")
        H = band(self.code_sparseness, self.code_each)
        return [NonNegative(), *W, *self.W], [NonNegative(), *H, *self.H]


def band(bounds: Any, each: Pieces) -> list[Sparseness]:
    """Return the constraint of a band: nothing for None, a lower bound for a number.

    Examples
    --------
    >>> band(0.5, "component")
    [Sparseness(min=0.5, max=1.0, each='component')]
    """
    if bounds is None:
        return []
    least, most = bounds if isinstance(bounds, (tuple, list)) else (bounds, 1.0)
    return [Sparseness(min=least, max=most, each=each)]
