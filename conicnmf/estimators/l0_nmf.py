"""Dictionaries whose codes have few non-zeros, by alternation with a coding step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.estimators.base import stop_rule
from conicnmf.estimators.streaming import Streaming
from conicnmf.estimators.valid import RandomState
from conicnmf.families.coding import L0, Coded, Coder, sparse_code
from conicnmf.model.base import BaseProblem
from conicnmf.model.constraints import NonNegative, UnitNorm
from conicnmf.model.terms import Term
from conicnmf.results import Result
from conicnmf.settings import Count, Jobs, Weight, Whole
from conicnmf.solve.engine import solve
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Array, Data


class L0NMF(Streaming):
    """X ≈ codes · atoms, non-negative, where a code uses an atom only if that lowers the error enough.

    Codes are exact least squares followed by backward elimination: an atom goes when that raises
    the error ‖x − code · atoms‖₂ by less than `weight`. `transform` codes in the same way.

    Parameters
    ----------
    n_components : int
        The number of atoms, which may exceed the number of features.
    weight : float
        The cost of an atom in a code, in the units of X; 0 is plain least squares.
    dictionary_weight : float
        The same price for the entries of the atoms, asked once dense atoms are found; 0 leaves
        them dense.
    coder : Coder, optional
        Another way to code, such as ``coding.OMP(max_atoms=3)``; `weight` is then not used.
    init : Start or str, optional
        Where to start, at random by default. ``"data-columns"``, averages of a few samples, or
        ``DataColumns(average=1)`` is often better for many atoms.
    max_iter : int, optional
        The number of alternations, 50 by default.
    n_starts : int
        The start with the smallest error is kept.
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
        Atoms of norm one.
    result_ : Result
        The solve as `conicnmf.solve` returns it.
    reconstruction_err_ : float
        ‖X − codes · atoms‖ of the fitted samples.
    n_iter_ : int
    status_ : Status

    References
    ----------
    O'Hanlon and Plumbley, Learning overcomplete dictionaries with l0-sparse non-negative matrix
    factorisation, GlobalSIP 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.families.coding import OMP
    >>> from conicnmf.estimators import L0NMF
    >>> X = np.random.default_rng(0).random((30, 6))
    >>> model = L0NMF(8, coder=OMP(max_atoms=2), max_iter=5).fit(X)
    >>> int((model.transform(X) > 0).sum(axis=1).max())
    2
    """

    def __init__(
        self,
        n_components: Count = 10,
        *,
        weight: Weight = 0.1,
        dictionary_weight: Weight = 0.0,
        coder: Coder | None = None,
        init: Any = None,
        max_iter: Whole | None = None,
        n_starts: Count = 1,
        n_jobs: Jobs = 1,
        random_state: RandomState = 0,
        n_threads: Count | None = None,
    ) -> None:
        super().__init__(None, max_iter, None, n_starts, random_state)
        self.n_jobs = n_jobs
        self.n_components = n_components
        self.n_threads = n_threads
        self.weight = weight
        self.dictionary_weight = dictionary_weight
        self.coder = coder
        self.init = init

    def _terms(self) -> tuple[Sequence[Term], Sequence[Term]]:
        return [NonNegative()], [NonNegative()]

    def _streamed_terms(self) -> Sequence[Term]:
        return [NonNegative(), UnitNorm()]

    def _dictionary(self) -> Coder | None:
        return L0(self.dictionary_weight) if self.dictionary_weight else None

    def _coder(self) -> Coder:
        return L0(self.weight) if self.coder is None else self.coder

    def _solver(self, problem: BaseProblem) -> AnySolver:
        return Coded(self._coder())

    def _solve(self, problem: BaseProblem, init: Any = None) -> Result:
        found = super()._solve(problem, init)
        if not self.dictionary_weight:
            return found
        # Entries of atoms are dropped for good reason only once the codes are about right.
        solver = Coded(self._coder(), L0(self.dictionary_weight))
        stop = stop_rule(solver, self.max_iter, None)
        return solve(problem, solver, init=(found.W, found.H), stop=stop, seed=found.seed)

    def _data(self, X: Any, reset: bool) -> tuple[Data, Any]:
        V, observed = super()._data(X, reset)
        if observed is not None:
            remedy = (
                "use SparseNMF, which leaves missing entries out"
                if reset
                else "use sparse_code(X.T, model.components_.T, coder, known=~np.isnan(X.T))"
            )
            raise InputError(
                f"X contains NaN, and codes by elimination need complete samples; {remedy}"
            )
        return V, observed

    def _codes(self, V: Data, observed: Any) -> Array:
        return np.asarray(sparse_code(V, self.components_.T, self._coder()))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags
