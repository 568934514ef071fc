"""`stability`: whether other seeds find the same components and groups of samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average, cophenet, leaves_list
from scipy.spatial.distance import squareform

from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result
from conicnmf.settings import Jobs, Whole, at_least, checks_arguments
from conicnmf.solve.choice import Stated, choose
from conicnmf.solve.guard import interruptions_held, interruptions_noted
from conicnmf.solve.methods.base import AnySolver, SolverLike, as_solver
from conicnmf.study.compare import Comparison, compare
from conicnmf.study.compare.rows import UNFINISHED
from conicnmf.study.measures import match_columns
from conicnmf.types import Array, Factors

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How much the results of several seeds agree.

    Attributes
    ----------
    best : Result
        The result with the lowest objective.
    results : list of Result
        The results that did not fail, in the order of their seeds.
    cosines : array of shape (results, rank)
        For each result, the cosine of each component of the best one (a column of W, or of the
        left side of the first product) with its match; the matching is one to one and has the
        largest sum.
    labels : array of int, shape (results, samples)
        The component that contributes most to each sample.
    missing : int
        How many runs were not finished because of an interruption.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.study import stability
    >>> stability(cn.factorize(np.eye(3), 3), cn.HALS(), n_starts=4)
    Stability of 4 runs, rank 3
      components  1.000 (worst 1.000)
      ...
    """

    best: Result
    results: list[Result]
    cosines: Array
    labels: NDArray[np.intp]
    missing: int = 0

    @property
    def partial(self) -> bool:
        """Whether an interruption left runs unfinished."""
        return self.missing > 0

    def plot(self) -> Figure:
        """Draw how often samples go together, and how well each component is found again."""
        from conicnmf.report import plot_consensus

        return plot_consensus(self)

    @property
    def components(self) -> Array:
        """The mean cosine of each of the best result's components with its matches."""
        others = [self.cosines[i] for i, r in enumerate(self.results) if r is not self.best]
        return np.asarray(np.mean(others, axis=0))

    @property
    def score(self) -> float:
        """The mean over the components: 1 when every run finds the same ones."""
        return float(self.components.mean())

    @cached_property
    def consensus(self) -> Array:
        """The share of runs in which two samples have the same main component."""
        same = [row[:, None] == row[None, :] for row in self.labels]
        return np.asarray(np.sum(same, axis=0, dtype=float) / len(same))

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The samples in an order that puts those grouped together side by side."""
        return np.asarray(leaves_list(self._tree)) if self._tree is not None else np.arange(1)

    @property
    def cophenetic(self) -> float:
        """The correlation of 1 − consensus with the distances in its average-linkage tree.

        It is 1 when every run groups the samples in the same way.
        """
        if self._tree is None:
            return 1.0
        apart = self._apart
        joined = cophenet(self._tree)
        spread = float(apart.std() * joined.std())
        if not spread:
            return 1.0
        centered = (apart - apart.mean()) * (joined - joined.mean())
        return float(centered.mean() / spread)

    @property
    def dispersion(self) -> float:
        """The mean of (2c − 1)² over the consensus c: 1 when it holds zeros and ones only."""
        return float(np.mean((2 * self.consensus - 1) ** 2))

    @cached_property
    def _apart(self) -> Array:
        return np.asarray(squareform(1 - self.consensus, checks=False))

    @cached_property
    def _tree(self) -> Array | None:
        return None if len(self.consensus) < 2 else np.asarray(average(self._apart))

    def __repr__(self) -> str:
        told = f" (partial: {self.missing} more were not finished)" if self.partial else ""
        return (
            f"Stability of {len(self.results)} runs{told}, rank {self.cosines.shape[1]}\n"
            f"  components  {self.score:.3f} (worst {self.components.min():.3f})\n"
            f"  cophenetic  {self.cophenetic:.3f}\n"
            f"  dispersion  {self.dispersion:.3f}"
        )


@checks_arguments
def stability(
    problem: Stated,
    solver: SolverLike | None = None,
    n_starts: Annotated[int, at_least(2)] = 20,
    *,
    seed: Whole = 0,
    n_jobs: Jobs = 1,
    progress: bool = False,
    **options: Any,
) -> Stability:
    """Solve a problem from several seeds and measure how much the results agree.

    Parameters
    ----------
    problem : Problem
    solver : Solver, optional
        By default one that fits is picked.
    n_starts : int
        The number of runs, with seeds seed, seed + 1, …
    seed : int
    n_jobs : int
        Number of processes; the results do not depend on it.
    progress : bool
        Show a progress bar.
    **options
        Passed on to `compare`: `init`, `stop`, `time_limit`, `backend`.

    Returns
    -------
    Stability

    References
    ----------
    Brunet, Tamayo, Golub and Mesirov, Metagenes and molecular pattern discovery using matrix
    factorization, PNAS 2004.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.study import stability
    >>> found = stability(cn.factorize(np.eye(3), 3), cn.HALS(), n_starts=4)
    >>> round(found.score, 6), found.cophenetic, found.dispersion
    (1.0, 1.0, 1.0)
    """
    zeros: Factors = {name: np.zeros(shape) for name, shape in problem.shapes.items()}
    if not _product(problem, zeros):
        raise InputError(
            "stability compares the components of a product such as W H, and this problem has no "
            "product of variables; compare its objectives with multistart"
        )
    chosen = choose(problem)[0] if solver is None else as_solver(solver)
    seeds = range(seed, seed + n_starts)
    with interruptions_noted():
        runs = compare(problem, [chosen], seeds, n_jobs=n_jobs, progress=progress, **options)
        with interruptions_held():
            return _agreement(problem, chosen, runs)


def _agreement(problem: BaseProblem, solver: AnySolver, runs: Comparison) -> Stability:
    """Return how much the runs agree that were finished."""
    results = [
        result
        for result in runs.results.values()
        if result.status.kind != "failed" and not result.interrupted
    ]
    if len(results) < 2 and runs.interrupted:
        raise KeyboardInterrupt  # too few to compare
    if len(results) < 2:
        raise InputError(
            f"{len(results)} of {len(runs.table)} runs of {solver.name} succeeded, and stability needs "
            "two; solve the problem by itself to see why"
        )
    best = min(results, key=lambda result: result.objective)
    pairs = [_product(problem, result.factors)[0] for result in results]
    W = _product(problem, best.factors)[0][0]
    cosines = np.array([match_columns(W, own, signed=False)[2] for own, _ in pairs])
    labels = np.array([main_component(*pair) for pair in pairs])
    missing = int(runs.table["status"].isin(UNFINISHED).sum())
    return Stability(best, results, cosines, labels, missing)


def _product(problem: BaseProblem, factors: Factors) -> list[tuple[Array, Array]]:
    """Return the two sides of the first product, or W and H of a model that has codes of its own."""
    found = problem.components(factors)[:1]
    codes = {"W", "H"} <= set(factors)
    return found or ([(factors["W"], factors["H"])] if codes else [])


def main_component(W: Array, H: Array) -> NDArray[np.intp]:
    """Return the component that contributes most to each sample."""
    return np.asarray(np.argmax(np.abs(H) * _norms(W)[:, None], axis=0))


def _norms(X: Array) -> Array:
    """Return the norms of the columns, one for those that are zero."""
    norms = np.linalg.norm(X, axis=0)
    return np.where(norms > 0, norms, 1.0)
