"""Non-negative factorization with the parameters of scikit-learn's `NMF`, and more."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from conicnmf.errors import InputError
from conicnmf.estimators.base import as_seed
from conicnmf.estimators.begin_and_end import SWEEP, CodesFirst, FallFromStart
from conicnmf.estimators.scikit_form import BetaLoss, Init, Rank, ScikitForm
from conicnmf.estimators.sparse_nmf import Band
from conicnmf.estimators.valid import RandomState
from conicnmf.model.base import BaseProblem
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.terms import Term
from conicnmf.results import Result
from conicnmf.settings import Count, Share, Weight
from conicnmf.solve.choice import choose
from conicnmf.solve.methods import Multiplicative
from conicnmf.solve.methods.base import AnySolver, SolverLike, as_solver
from conicnmf.solve.starts import Given, as_start
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array

_SOLVERS: dict[str, AnySolver] = {"cd": SWEEP, "mu": Multiplicative()}


class NMF(ScikitForm):
    """X ≈ codes · components, both non-negative: scikit-learn's `NMF`, with any further terms.

    The parameters, attributes and the objective are those of `sklearn.decomposition.NMF`, where the
    codes are called W and the components H. Missing entries (NaN), sparseness and terms on both
    factors come on top. `reconstruction_err_` and codes may differ in their last digits or be those
    of another local minimum: the solvers are this package's own.

    Parameters
    ----------
    n_components : int, "auto" or None
        The number of components; as many as features by default, or as the start given has.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}, Start or None
        Where to start; "custom" takes W and H of `fit_transform`. None is "nndsvda" where there are
        fewer components than samples and features, else "random".
    solver : {"cd", "mu"}, Solver, str or None
        "cd" means single sweeps of `HALS`, "mu" for `Multiplicative`, and both for the solver
        that fits best where terms ask for another one, as None does.
    beta_loss : float or {"frobenius", "kullback-leibler", "itakura-saito"}
        The β-divergence of X from the model; β = 2 is half the squares.
    tol : float
        The fit ends when the root of the objective fell by less than this part of its first value
        in ten iterations.
    max_iter : int
        The iteration limit.
    random_state : int, RandomState or None
        A whole number is the seed.
    alpha_W, alpha_H : float
        Weights of the penalties on the codes, times the number of features, and on the components,
        times the number of samples; `alpha_H="same"` is as `alpha_W`.
    l1_ratio : float
        The part of the penalties that is the sum of the entries; the rest is half their squares.
    verbose : int
        Show progress on standard error.
    shuffle : bool
        Put the components of the start in random order, in which "cd" then visits them.
    sparseness, code_sparseness : float or (min, max), optional
        Each component, or each sample's code, has Hoyer sparseness of at least so much, or within
        the band.
    component_terms, code_terms : list of Term
        More terms on the components and on the codes.
    n_threads : int, optional
        Threads for work that goes sample by sample; they do not change the answer.

    Attributes
    ----------
    components_ : array of shape (components, features)
    n_components_ : int
    reconstruction_err_ : float
        ‖X − codes · components‖ of the fitted samples, for other losses √(2 · divergence); over the
        entries that are observed.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of str
    result_ : Result
        The solve as `conicnmf.solve` returns it.
    sample_terms_ : tuple of Term
        The terms on codes that `transform` obeys: those that apply to each sample by itself.
    status_ : Status

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import NMF
    >>> X = np.array([[1, 1], [2, 1], [3, 1.2], [4, 1], [5, 0.8], [6, 1]])
    >>> model = NMF(n_components=2, init="random", random_state=0)
    >>> W = model.fit_transform(X)
    >>> bool(np.abs(W @ model.components_ - X).max() < 0.05)
    True
    """

    def __init__(
        self,
        n_components: Rank = "auto",
        *,
        init: Init = None,
        solver: Literal["cd", "mu"] | SolverLike | None = "cd",
        beta_loss: BetaLoss = "frobenius",
        tol: Weight = 1e-4,
        max_iter: Count = 200,
        random_state: RandomState = None,
        alpha_W: Weight = 0.0,
        alpha_H: Weight | Literal["same"] = "same",
        l1_ratio: Share = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        sparseness: Band = None,
        code_sparseness: Band = None,
        component_terms: Sequence[Term] = (),
        code_terms: Sequence[Term] = (),
        n_threads: Count | None = None,
    ) -> None:
        own = beta_loss, tol, max_iter, random_state, alpha_W, alpha_H, l1_ratio, verbose
        more = sparseness, code_sparseness, component_terms, code_terms
        super().__init__(n_components, init, *own, *more)
        self.solver = solver
        self.shuffle = shuffle
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Find components and codes of the samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            NaN marks a missing entry.
        y : ignored
        W, H : array, optional
            Codes and components to start from, with `init="custom"`.
        """
        V, observed = self._data(X, reset=True)
        self._check_method()
        start = self._begin(V, W, H)
        samples, features = labels_of(X)
        problem = with_labels(self._problem(V, observed), features, samples)
        return self._keep(self._solve(problem, start), V, observed)

    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Array:
        """Return the codes that the fit has found.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : ignored
        W, H : array, optional
            Codes and components to start from, with `init="custom"`.
        """
        self.fit(X, W=W, H=H)
        return np.ascontiguousarray(self.result_.H.T)

    def _check_method(self) -> None:
        if self.solver == "cd" and self._beta != 2:
            raise InputError(
                f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = "
                f"{self.beta_loss!r}; use solver='mu', or None for the one that fits best"
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the "
                "initialization, and so leads to poorer results when used jointly with "
                "init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead.",
                UserWarning,
                stacklevel=3,
            )

    def _solver(self, problem: BaseProblem) -> AnySolver:
        if self.solver is None:
            return choose(problem)[0]
        if not isinstance(self.solver, str) or self.solver not in _SOLVERS:
            return as_solver(self.solver)
        solver = _SOLVERS[self.solver]
        return choose(problem)[0] if solver.mismatches(problem) else solver

    def _solve(self, problem: BaseProblem, init: Any = None) -> Result:
        if self.shuffle:
            init = _shuffled(problem, init, as_seed(self.random_state))
        if self._solver(problem) is _SOLVERS["cd"]:
            init = CodesFirst(as_start(init))
        with warnings.catch_warnings():  # scikit-learn takes penalties on one factor silently, too
            warnings.filterwarnings("ignore", "the scale of")
            return super()._solve(problem, init)

    def _stop(self, solver: AnySolver) -> Stop:
        # Without a tolerance the limit is what was asked for, and nothing was cut short.
        limit = MaxIter(self.max_iter)
        return limit | FallFromStart(self.tol) if self.tol > 0 else limit

    def _cut_short(self, solver: AnySolver, result: Result) -> str:
        return (
            f"Maximum number of iterations {self.max_iter} reached. Increase it to improve "
            "convergence."
        )


def _shuffled(problem: Any, init: Any, seed: int) -> Given:
    """Return the start with its components in another order."""
    rng = np.random.default_rng(seed)
    begun = as_start(init).factors(problem, rng)
    order = rng.permutation(begun["H"].shape[0])
    return Given(W=begun["W"][:, order], H=begun["H"][order])
