"""Many starts of one solver: the best result, and how far apart the others end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.results import Result
from conicnmf.settings import Count, Jobs, Whole, checks_arguments
from conicnmf.solve.choice import Stated, choose
from conicnmf.solve.guard import interruptions_held, interruptions_noted
from conicnmf.solve.methods.base import SolverLike, as_solver
from conicnmf.study.compare import compare
from conicnmf.study.compare.rows import FAILED, told_unfinished
from conicnmf.types import Array

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Multistart:
    """The outcome of several starts.

    Attributes
    ----------
    best : Result
        The feasible result with the lowest objective.
    table : pandas.DataFrame
        One row per start.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> runs = cn.multistart(cn.factorize(np.eye(3), 1), cn.HALS(), n_starts=2)
    >>> len(runs.table), runs.spread < 1e-6
    (2, True)
    """

    best: Result
    table: pd.DataFrame

    @property
    def partial(self) -> bool:
        """Whether an interruption or the budget left starts unfinished."""
        return bool(told_unfinished(self.table["status"]))

    @property
    def objectives(self) -> Array:
        """The objectives of the runs that did not fail, from the lowest up."""
        fine = ~self.table["status"].isin(FAILED)
        return np.sort(self.table["objective"][fine].to_numpy())

    @property
    def spread(self) -> float:
        """The largest objective minus the lowest, relative to the lowest."""
        low, high = self.objectives[0], self.objectives[-1]
        return float((high - low) / abs(low)) if low else float(high - low)

    def __repr__(self) -> str:
        values = self.objectives
        told = told_unfinished(self.table["status"])
        return (
            f"Multistart: {len(self.table)} starts, {len(values)} finished\n"
            f"  best objective  {values[0]:.6g} (seed {self.best.seed})\n"
            f"  median          {np.median(values):.6g}\n"
            f"  spread          {self.spread:.2%}" + (f"\n  {told}" if told else "")
        )


@checks_arguments
def multistart(
    problem: Stated,
    solver: SolverLike | None = None,
    n_starts: Count = 10,
    *,
    seed: Whole = 0,
    n_jobs: Jobs = 1,
    progress: bool = False,
    **options: Any,
) -> Multistart:
    """Solve a problem from several starts and return the best result and the spread.

    Parameters
    ----------
    problem : Problem
    solver : Solver, optional
        By default one that fits is picked. Each start is a single run of it, never a race.
    n_starts : int
        The number of starts, with seeds seed, seed + 1, …
    seed : int
    n_jobs : int
        Number of processes; the results do not depend on it.
    progress : bool
        Show a progress bar.
    **options
        Passed on to `compare`: `init`, `stop`, `time_limit`, `budget`, `store`, `backend`.

    Returns
    -------
    Multistart

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> runs = cn.multistart(cn.factorize(V, 2), cn.HALS(), n_starts=3)
    >>> bool(runs.best.objective == runs.objectives[0])
    True
    """
    chosen = choose(problem)[0] if solver is None else as_solver(solver)
    seeds = range(seed, seed + n_starts)
    with interruptions_noted():
        runs = compare(problem, [chosen], seeds, n_jobs=n_jobs, progress=progress, **options)
        if runs.interrupted and not runs.results:
            raise KeyboardInterrupt
        with interruptions_held():
            return Multistart(runs.best(), runs.table.drop(columns=["problem", "solver"]))
