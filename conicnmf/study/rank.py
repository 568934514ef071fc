"""`cross_validate_rank`: how well models of each rank predict entries they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.model.addends import Fit
from conicnmf.model.factorize import factorize
from conicnmf.model.known import as_loss
from conicnmf.model.losses import Frobenius
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss
from conicnmf.results import Result
from conicnmf.settings import (
    AS_GIVEN,
    Count,
    Jobs,
    Reads,
    Whole,
    at_least,
    checks_arguments,
    listed,
    shown,
)
from conicnmf.solve.choice import choose
from conicnmf.solve.guard import interruptions_held, interruptions_noted
from conicnmf.solve.methods.base import SolverLike
from conicnmf.study.compare import Comparison, compare
from conicnmf.study.compare.rows import UNFINISHED
from conicnmf.study.held_out import deal_entries, known_entries, only, without
from conicnmf.types import Array, Data
from conicnmf.validate import as_data, as_rank

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_FLOOR = 1e-3
"""What is added to the model of held-out entries under a divergence, relative to the mean of V."""

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
        The rank with the lowest mean error.
    table : pandas.DataFrame
        One row per rank: mean and standard error of the held-out error over the folds, the mean
        error on the entries that were fitted, and how many folds failed.
    folds : pandas.DataFrame
        One row per rank and fold.
    missing : tuple of int
        Ranks of which not all folds were finished; they are not considered.

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
    given = listed(ranks)
    own = [ranks] if given is None else given
    if not own:
        raise InputError(f"{name} must be one rank or more, got none; try range(1, 11)")
    return sorted({as_rank(rank) for rank in own})


@checks_arguments
def cross_validate_rank(
    V: Annotated[Any, Reads(as_data)],
    ranks: Annotated[Iterable[int], Reads(_as_ranks)],
    folds: Annotated[int, at_least(2)] = 5,
    solver: SolverLike | None = None,
    *,
    problem: MakeProblem | None = None,
    loss: Annotated[Loss | str | None, AS_GIVEN] = None,
    observed: Any = None,
    n_starts: Count = 1,
    seed: Whole = 0,
    n_jobs: Jobs = 1,
    progress: bool = False,
    **options: Any,
) -> RankChoice:
    """Choose the rank by entries that are held out of the loss.

    The entries of V are assigned to the folds at random. For each rank and fold, the model is fitted to
    the other entries, and the error ‖V − W H‖²/‖V‖² is computed over the entries of the fold; for
    other losses, it is the loss of these entries relative to that of the zero model. Divergences are
    infinite for the zero model, so they use a constant model instead, and a thousandth of the mean of
    V is added to predictions of held-out entries.

    Parameters
    ----------
    V : array or sparse matrix
        The data, features × samples; zeros of a sparse matrix are data.
    ranks : iterable of int
    folds : int
        At least two.
    solver : Solver, optional
        By default the one that `solve` picks.
    problem : callable, optional
        problem(V, rank, loss) states the model; by default ``factorize(V, rank, loss=loss)``.
    loss : Loss or str, optional
        Squared Frobenius by default, or for example "kl" for counts.
    observed : array or sparse matrix of bool, optional
        Which entries of V are known. If `observed` is sparse, the cost is proportional to the
        number of known entries; for ratings, pass ``observed=V != 0``.
    n_starts : int
        The start with the lowest objective is kept.
    seed : int
        For the folds and the starts.
    n_jobs : int
        Number of processes; the results do not depend on it.
    progress : bool
        Show a progress bar.
    **options
        Passed on to `compare`: `init`, `stop`, `time_limit`, `backend`.

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
    tried = list(ranks)
    judge = Frobenius() if loss is None else as_loss(loss)
    known = known_entries(V.shape, observed)
    parts = deal_entries(V.shape, folds, seed, known)
    data = V.toarray() if sp.issparse(V) and not sp.issparse(known) else V
    state = problem or _plain
    kept = [without(known, part) for part in parts]
    seen = [only(data, mask) for mask in kept]
    # Rank by rank, so that an interruption leaves some of them with all their folds.
    stated = {
        _label(rank, fold): state(seen[fold], rank, judge.masked(kept[fold]))
        for rank in tried
        for fold in range(len(parts))
    }
    first = next(iter(stated.values()))
    _check_single_fit(first)
    chosen = choose(first)[0] if solver is None else solver
    seeds = range(seed, seed + n_starts)
    with interruptions_noted():
        runs = compare(
            stated, {"solver": chosen}, seeds, n_jobs=n_jobs, progress=progress, **options
        )
        missing = _unfinished(runs, tried, len(parts))
        if runs.interrupted and len(missing) == len(tried):
            raise KeyboardInterrupt  # one rank without all its folds says nothing
        with interruptions_held():
            judges = [judge.masked(part) for part in parts]
            return _choice(_judged(stated, data, tried, judges, runs), missing)


def _judged(
    stated: dict[str, Problem], data: Data, ranks: list[int], judges: list[Loss], runs: Comparison
) -> pd.DataFrame:
    """Return the errors of every rank in every fold."""
    import pandas as pd

    rows = [
        {
            "rank": rank,
            "fold": fold,
            **_errors(stated[_label(rank, fold)].fit, data, own, _best(runs.results, rank, fold)),
        }
        for rank in ranks
        for fold, own in enumerate(judges)
    ]
    return pd.DataFrame(rows)


def _plain(V: Array, rank: int, loss: Loss) -> Problem:
    return factorize(V, rank, loss=loss)


def _check_single_fit(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise InputError(
            f"the function problem of cross_validate_rank must return a Problem, got {shown(problem)}; "
            "write lambda V, rank, loss: factorize(V, rank, loss=loss)"
        )
    if len(problem.fits) != 1:
        raise InputError(
            f"cross_validate_rank leaves out entries of a single V, but the problem fits "
            f"{len(problem.fits)} matrices; state a model of V alone"
        )


def _label(rank: int, fold: int) -> str:
    return f"rank {rank}, fold {fold}"


def _best(results: dict[tuple[str, str, int], Result], rank: int, fold: int) -> Result | None:
    runs = [
        result
        for (label, _, _), result in results.items()
        if label == _label(rank, fold) and result.status.kind != "failed"
    ]
    return min(runs, key=lambda result: result.objective, default=None)


def _errors(fit: Fit, V: Data, judge: Loss, result: Result | None) -> dict[str, float]:
    """Return the loss of the held-out and of the fitted entries, relative to that of no model."""
    if result is None:
        return {"held_out": np.nan, "fitted": np.nan}
    held_out = replace(fit, V=V, loss=judge)
    errors = {"held_out": _held_out(held_out, result) / held_out.zero if held_out.zero else np.nan}
    fitted = fit.value(result.factors) / fit.zero if fit.zero else np.nan
    return errors | {"fitted": fitted}


def _held_out(fit: Fit, result: Result) -> float:
    """Return the loss, lifted from zero where that would have none."""
    L, R = fit.model(result.factors)
    if fit.loss.powers[1] >= 0:
        return fit.loss.value(fit.V, L, R)
    # A single count that a model holds to be impossible would make its error infinite.
    floor = _FLOOR * float(abs(fit.V).mean())
    return fit.loss.value(
        fit.V,
        np.hstack([L, np.full((len(L), 1), floor)]),
        np.vstack([R, np.ones((1, R.shape[1]))]),
    )


def _unfinished(runs: Comparison, ranks: list[int], folds: int) -> tuple[int, ...]:
    """Return the ranks with a fold that was not finished."""
    left = set(runs.table["problem"][runs.table["status"].isin(UNFINISHED)])
    return tuple(rank for rank in ranks if left & {_label(rank, fold) for fold in range(folds)})


def _choice(folds: pd.DataFrame, missing: tuple[int, ...] = ()) -> RankChoice:
    """Apply the rule of one standard error to the ranks whose folds are all finished."""
    import pandas as pd

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
