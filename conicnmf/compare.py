"""Compare solvers fairly: the same problems, starts and stopping for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from conicnmf.engine import solve
from conicnmf.errors import ConicNMFError, InputError
from conicnmf.factorization import as_statement
from conicnmf.monitor import CountBar
from conicnmf.problem import Problem
from conicnmf.result import Result, Status
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement

_COLUMNS = (
    "problem",
    "solver",
    "seed",
    "objective",
    "relative_error",
    "violation",
    "seconds",
    "iterations",
    "status",
    "reason",
)

_FAILED = ("SKIPPED", "ERROR", *(s.name for s in Status if s.kind == "failed"))
_WARM: set[str] = set()


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The runs of a comparison.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a run, pairs that do not fit and failures included, with the reason.
    results : dict
        The results by (problem, solver, seed).

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> runs = cn.compare(cn.factorize(np.eye(4), 2), [cn.HALS()], seeds=[0, 1], stop=5)
    >>> runs.summary()["iterations"].item()
    5.0
    """

    table: pd.DataFrame
    results: dict[tuple[str, str, int], Result] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.summary().to_string()

    def _repr_html_(self) -> str:
        return str(self.summary().to_html())

    def summary(self) -> pd.DataFrame:
        """Return one row a problem and solver: means over the runs that did not fail, statuses."""
        rows = []
        for (problem, solver), every in self.table.groupby(["problem", "solver"], sort=False):
            counts = every["status"].value_counts()
            runs = every[~every["status"].isin(_FAILED)]
            rows.append(
                {
                    "problem": problem,
                    "solver": solver,
                    "objective": runs["objective"].mean(),
                    "best": runs["objective"].min(),
                    "relative_error": runs["relative_error"].mean(),
                    "violation": runs["violation"].max(),
                    "seconds": runs["seconds"].mean(),
                    "seconds_sd": runs["seconds"].std(ddof=0),
                    "iterations": runs["iterations"].mean(),
                    "status": ", ".join(f"{name} ×{count}" for name, count in counts.items()),
                }
            )
        return pd.DataFrame(rows).set_index(["problem", "solver"])

    def best(self, solver: str | None = None, problem: str | None = None) -> Result:
        """Return the feasible result with the lowest objective, of one solver or of all."""
        labels = self.table["problem"].unique()
        if problem is None and len(labels) > 1:
            raise InputError(
                f"objectives of different problems do not compare; name one of {', '.join(labels)}"
            )
        fitting = [
            result
            for (label, name, _), result in self.results.items()
            if (solver is None or name == solver)
            and (problem is None or label == problem)
            and result.status.kind != "failed"
        ]
        if not fitting:
            raise InputError(f"no run of {solver or 'any solver'} succeeded; look at .table")
        return min(fitting, key=lambda result: result.objective)


def compare(
    problem: Problem | Statement | Mapping[str, Problem | Statement],
    solvers: Sequence[Solver] | Mapping[str, Solver],
    seeds: Iterable[int] = range(3),
    *,
    n_jobs: int = 1,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Run every solver on every problem from the same starts.

    Parameters
    ----------
    problem : Problem or dict of str to Problem
    solvers : list of Solver, or dict of str to Solver
    seeds : iterable of int
        A seed fixes the start, which all solvers share.
    n_jobs : int
        Processes; the numbers are the same for any of them, since each runs on one thread.
    progress : bool
        Show a progress bar.
    **options
        Passed on to `solve`: `init`, `stop`, `time_limit`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> problem = cn.factorize(np.ones((4, 3)), 1)
    >>> cn.compare(problem, [cn.HALS(), cn.Multiplicative()], seeds=[0]).table["status"].tolist()
    ['CONVERGED', 'CONVERGED']
    """
    problems = problem if isinstance(problem, Mapping) else {"problem": problem}
    named = solvers if isinstance(solvers, Mapping) else _names(solvers)
    if not problems or not named:
        raise InputError("compare needs at least one problem and one solver, got none")
    starts = list(seeds)
    tasks = [(label, name, seed) for label in problems for seed in starts for name in named]
    work = (
        delayed(_run)(problems[label], named[name], seed, options) for label, name, seed in tasks
    )
    bar = CountBar("comparing", len(tasks)) if progress else None
    rows, results = [], {}
    try:
        with Parallel(n_jobs=n_jobs, return_as="generator") as pool:
            for task, (row, result) in zip(tasks, pool(work), strict=True):
                rows.append(dict(zip(_COLUMNS[:3], task, strict=True)) | row)
                if result is not None:
                    results[task] = result
                if bar is not None:
                    bar.step()
    finally:
        if bar is not None:
            bar.close()
    return Comparison(pd.DataFrame(rows, columns=list(_COLUMNS)), results)


def _names(solvers: Sequence[Solver]) -> dict[str, Solver]:
    """Name solvers by their class, or by their settings where two share it."""
    short = [solver.name for solver in solvers]
    return {
        str(solver) if short.count(solver.name) > 1 else solver.name: solver for solver in solvers
    }


def _run(
    problem: Problem | Statement, solver: Solver, seed: int, options: dict[str, Any]
) -> tuple[dict[str, Any], Result | None]:
    """Return a row of the table; a pair that does not fit or fails is a row too."""
    reasons = as_statement(problem).mismatches(solver)
    if reasons:
        return _empty("SKIPPED", "; ".join(reasons)), None
    try:
        with threadpool_limits(limits=1):
            if solver.name not in _WARM:  # compiling must not count as solving
                solve(problem, solver, seed=seed, throw=False, **(options | {"stop": 1}))
                _WARM.add(solver.name)
            result = solve(problem, solver, seed=seed, throw=False, **options)
    except ConicNMFError as error:
        return _empty("ERROR", str(error)), None
    row = {
        "objective": result.objective,
        "relative_error": result.relative_error,
        "violation": result.max_violation,
        "seconds": result.seconds,
        "iterations": result.n_iter,
        "status": result.status.name,
        "reason": result.status.value if result.status.kind == "failed" else "",
    }
    return row, result


def _empty(status: str, reason: str) -> dict[str, Any]:
    numbers = ("objective", "relative_error", "violation", "seconds", "iterations")
    return dict.fromkeys(numbers, np.nan) | {"status": status, "reason": reason}
