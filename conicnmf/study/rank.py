"""`cross_validate_rank`: how well models of each rank predict entries they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.model.factorize import factorize
from conicnmf.model.losses import WeightedFrobenius
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss
from conicnmf.results import Result
from conicnmf.settings import Count, Jobs, Reads, Whole, at_least, door
from conicnmf.solve.choice import choose
from conicnmf.solve.methods import Multiplicative
from conicnmf.solve.methods.base import AnySolver, SolverLike
from conicnmf.study.compare import Comparison, compare
from conicnmf.study.compare.rows import UNFINISHED
from conicnmf.types import Array, Mask
from conicnmf.validate import as_array, as_data, as_rank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MakeProblem = Callable[[Array, int, Loss], Problem]
"""Returns the problem for data, a rank and a loss that leaves out the held-out entries."""


@dataclass(frozen=True, eq=False, repr=False)
class RankChoice:
    """What held-out entries say about the rank.

    Attributes
    ----------
    rank : int
        The smallest rank whose mean error is within one standard error of the lowest.
    best : int
        The rank of the lowest mean error.
    table : pandas.DataFrame
        One row a rank: mean and standard error of the held-out error over the folds, the mean
        error on the entries that were fitted, and how many folds failed.
    folds : pandas.DataFrame
        One row a rank and fold.
    missing : tuple of int
        The ranks that were left without all their folds; they are not chosen from.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.study import cross_validate_rank
    >>> V = cn.datasets.low_rank(20, 15, 2, seed=0).V
    >>> cross_validate_rank(V, [1, 2], folds=2, stop=100).rank
    2
    """

    rank: int
    best: int
    table: pd.DataFrame
    folds: pd.DataFrame
    missing: tuple[int, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether an interruption or the budget left ranks unfinished."""
        return bool(self.missing)

    def plot(self) -> Figure:
        """Draw the error of held-out and of fitted entries against the rank."""
        from conicnmf.report import plot_rank

        return plot_rank(self)

    def __repr__(self) -> str:
        return (
            f"rank {self.rank} (lowest error: {self.best}){self._told('; ')}\n"
            f"{self.table.to_string()}"
        )

    def _repr_html_(self) -> str:
        return self.table.to_html() + self._told("<p>")

    def _told(self, before: str) -> str:
        listed = ", ".join(map(str, self.missing))
        return (
            f"{before}partial: not all folds of rank {listed} were finished" if self.partial else ""
        )


def _as_ranks(ranks: Any, name: str) -> list[int]:
    """Return different ranks in order; one number stands for itself."""
    listed = list(ranks) if isinstance(ranks, Iterable) else [ranks]
    if not listed:
        raise InputError(f"{name} must be one rank or more, got none; try range(1, 11)")
    return sorted({as_rank(rank) for rank in listed})


@door
def cross_validate_rank(
    V: Annotated[Any, Reads(as_data)],
    ranks: Annotated[Iterable[int], Reads(_as_ranks)],
    folds: Annotated[int, at_least(2)] = 5,
    solver: SolverLike | None = None,
    *,
    problem: MakeProblem | None = None,
    observed: Any = None,
    n_starts: Count = 1,
    seed: Whole = 0,
    n_jobs: Jobs = 1,
    progress: bool = False,
    **options: Any,
) -> RankChoice:
    """Choose the rank by entries that are held out of the loss.

    The entries of V are dealt out to the folds at random. For each rank and fold the model is
    fitted to the other entries, and its error ‖V − W H‖²/‖V‖² is taken over those of the fold.

    Parameters
    ----------
    V : array or sparse matrix
        The data, features × samples; zeros of a sparse matrix are data.
    ranks : iterable of int
    folds : int
        At least two.
    solver : Solver, optional
        By default `Multiplicative` where it fits, since weights make other methods slow.
    problem : callable, optional
        problem(V, rank, loss) states the model; by default ``factorize(V, rank, loss=loss)``.
    observed : array of bool, optional
        Which entries of V are known.
    n_starts : int
        The start with the lowest objective is kept.
    seed : int
        Deals out the entries and starts the solves.
    n_jobs : int
        Processes; the numbers are the same for any of them.
    progress : bool
        Show a progress bar.
    **options
        Passed on to `solve`: `init`, `stop`, `time_limit`.

    Returns
    -------
    RankChoice

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.study import cross_validate_rank
    >>> V = cn.datasets.low_rank(20, 15, 2, seed=0).V
    >>> choice = cross_validate_rank(V, [1, 2], folds=2, stop=100)
    >>> list(choice.table.columns)
    ['held_out', 'standard_error', 'fitted', 'failed']
    """
    dense: Array = V.toarray() if sp.issparse(V) else V
    tried = list(ranks)
    parts = deal_entries(dense.shape, folds, seed, observed)
    state = problem or _plain
    kept = [np.asarray(_known(dense.shape, observed) & ~part) for part in parts]
    seen = [np.where(mask, dense, 0).astype(dense.dtype) for mask in kept]
    # Rank by rank, so that an interruption leaves some of them with all their folds.
    stated = {
        _label(rank, fold): state(seen[fold], rank, WeightedFrobenius(kept[fold]))
        for rank in tried
        for fold in range(len(parts))
    }
    _check_single_fit(next(iter(stated.values())))
    chosen = _quick_solver(next(iter(stated.values()))) if solver is None else solver
    seeds = range(seed, seed + n_starts)
    runs = compare(stated, {"solver": chosen}, seeds, n_jobs=n_jobs, progress=progress, **options)
    rows = [
        {
            "rank": rank,
            "fold": fold,
            **_errors(stated[_label(rank, fold)], dense, part, _best(runs.results, rank, fold)),
        }
        for rank in tried
        for fold, part in enumerate(parts)
    ]
    missing = _unfinished(runs, tried, len(parts))
    if runs.interrupted and len(missing) == len(tried):
        raise KeyboardInterrupt  # one rank without all its folds says nothing
    return _choice(pd.DataFrame(rows), missing)


def deal_entries(
    shape: tuple[int, ...], folds: int, seed: int = 0, observed: Any = None
) -> list[Mask]:
    """Return a mask of the held-out entries for each fold; every known entry is in one of them.

    Examples
    --------
    >>> [int(part.sum()) for part in deal_entries((3, 4), 2)]
    [6, 6]
    """
    known = np.flatnonzero(_known(shape, observed))
    if folds > known.size:
        raise InputError(f"{known.size} known entries cannot fill {folds} folds; take fewer")
    fold = np.full(int(np.prod(shape)), -1)
    shuffled = np.random.default_rng(seed).permutation(known)
    fold[shuffled] = np.arange(known.size) % folds
    return [(fold == k).reshape(shape) for k in range(folds)]


def _known(shape: tuple[int, ...], observed: Any) -> Mask:
    if observed is None:
        return np.ones(shape, dtype=bool)
    mask: Mask = as_array(observed, "observed")
    if mask.shape != tuple(shape) or mask.dtype != bool:
        raise InputError(
            f"observed must be a boolean array of V's shape {tuple(shape)}, got {mask.dtype} of "
            f"shape {mask.shape}; write ~np.isnan(V)"
        )
    return mask


def _plain(V: Array, rank: int, loss: Loss) -> Problem:
    return factorize(V, rank, loss=loss)


def _check_single_fit(problem: Problem) -> None:
    if len(problem.fits) != 1:
        raise InputError(
            f"cross_validate_rank holds entries of one V out, and the problem fits "
            f"{len(problem.fits)} matrices; state a model of V alone"
        )


def _label(rank: int, fold: int) -> str:
    return f"rank {rank}, fold {fold}"


def _quick_solver(problem: Problem) -> AnySolver:
    quick = Multiplicative()
    return choose(problem)[0] if quick.mismatches(problem) else quick


def _best(results: dict[tuple[str, str, int], Result], rank: int, fold: int) -> Result | None:
    runs = [
        result
        for (label, _, _), result in results.items()
        if label == _label(rank, fold) and result.status.kind != "failed"
    ]
    return min(runs, key=lambda result: result.objective, default=None)


def _errors(problem: Problem, V: Array, part: Mask, result: Result | None) -> dict[str, float]:
    """Return the squared error over the held-out entries relative to their squares."""
    if result is None:
        return {"held_out": np.nan, "fitted": np.nan}
    left, right = problem.fit.model(result.factors)
    rest = (V - left @ right)[part]
    whole = float(np.sum(V[part] ** 2, dtype=np.float64))
    held_out = float(np.sum(rest**2, dtype=np.float64)) / whole if whole else np.nan
    return {"held_out": held_out, "fitted": result.relative_error}


def _unfinished(runs: Comparison, ranks: list[int], folds: int) -> tuple[int, ...]:
    """Return the ranks with a fold that was not finished."""
    left = set(runs.table["problem"][runs.table["status"].isin(UNFINISHED)])
    return tuple(rank for rank in ranks if left & {_label(rank, fold) for fold in range(folds)})


def _choice(folds: pd.DataFrame, missing: tuple[int, ...] = ()) -> RankChoice:
    """Apply the rule of one standard error to the ranks whose folds are all finished."""
    folds = folds[~folds["rank"].isin(missing)]
    if folds.empty:
        raise InputError("no rank had all its folds finished; allow more time or try fewer ranks")
    groups: Any = folds.groupby("rank")
    held_out = groups["held_out"]
    table = pd.DataFrame(
        {
            "held_out": held_out.mean(),
            "standard_error": held_out.std(ddof=1) / np.sqrt(held_out.count()),
            "fitted": groups["fitted"].mean(),
            "failed": held_out.apply(lambda errors: int(errors.isna().sum())),
        }
    )
    if table["held_out"].isna().all():
        raise InputError(
            "no fold of any rank could be solved; solve the problem by itself to see why"
        )
    means, spread = table["held_out"].to_numpy(), table["standard_error"].to_numpy()
    ranks = table.index.to_numpy()
    lowest = int(np.nanargmin(means))
    within = means <= means[lowest] + np.nan_to_num(spread[lowest])
    return RankChoice(int(ranks[within].min()), int(ranks[lowest]), table, folds, missing)
