"""`compare`: every solver on every problem from the same starts."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from joblib import Parallel

from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result
from conicnmf.settings import Jobs, Place, Reads, Seconds, checks_arguments
from conicnmf.solve.guard import interruptions_held, interruptions_noted
from conicnmf.solve.methods.base import AnySolver
from conicnmf.solve.monitor import CountBar
from conicnmf.solve.stop import Stop, StopLike
from conicnmf.study.compare.claim import claim_of
from conicnmf.study.compare.comparison import Comparison
from conicnmf.study.compare.inputs import (
    Problems,
    Solvers,
    as_problems,
    as_seeds,
    as_solvers,
    common_stop,
)
from conicnmf.study.compare.rows import COLUMNS, INTERRUPTION, Row, Task, row_of, row_without
from conicnmf.study.compare.single import Rules, run_single
from conicnmf.study.compare.store import Index, Store, merged, open_store
from conicnmf.study.workers import Backend, in_parallel, job


@checks_arguments
def compare(
    problem: Annotated[BaseProblem | Problems, Reads(as_problems)],
    solvers: Annotated[Solvers, Reads(as_solvers)],
    seeds: Annotated[Iterable[int], Reads(as_seeds)] = range(3),
    *,
    init: Any = None,
    stop: StopLike | None = None,
    time_limit: Seconds | None = None,
    budget: Seconds | None = None,
    store: Place | None = None,
    n_jobs: Jobs = 1,
    backend: Backend = None,
    progress: bool = False,
) -> Comparison:
    """Run every solver on every problem from the same starts.

    Parameters
    ----------
    problem : Problem or dict of str to Problem
    solvers : list of Solver or str, or dict of str to either
    seeds : iterable of int
        A seed fixes the start, which all solvers share.
    init : Start or pair of arrays, optional
        Where to start, as in `solve`.
    stop : Stop or int, optional
        When to end, the same for all. By default the rule that the solvers share, or else
        ``MaxIter(500) | RelDecrease(1e-5)``.
    time_limit : float, optional
        Seconds for each run. If it is given, the solvers' own iteration limits do not apply.
    budget : float, optional
        Seconds for all runs together. Every solver gets a first run before any gets a second; runs that
        are not finished in time are listed as such.
    store : path, optional
        A folder for finished runs. The same call continues where a killed one stopped, and may add
        seeds, solvers and problems; runs that raised an error are tried again.
    n_jobs : int
        Number of processes. Runs with an iteration limit give the same numbers for any `n_jobs`,
        because each run has one thread; times are comparable only with one process.
    backend : {"loky", "threading", "dask"}, optional
        How joblib makes runs in parallel; "dask" sends them to the workers of the current `Client`,
        all of them unless `n_jobs` is more than 1.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Comparison
        Every run is a row, also if the solver does not fit (SKIPPED), raised an error (ERROR) or was
        not run (NOT_RUN). Ctrl-C returns the finished runs, as a `partial` comparison.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> problem = cn.factorize(np.ones((4, 3)), 1)
    >>> cn.compare(problem, [cn.HALS(), cn.Multiplicative()], seeds=[0]).table["status"].tolist()
    ['CONVERGED', 'CONVERGED']
    """
    problems, named, starts = as_problems(problem), as_solvers(solvers), as_seeds(seeds)
    if not problems or not named or not starts:
        raise InputError(
            "compare needs at least one problem and one solver and one seed, got none; try seeds=[0]"
        )
    rule = common_stop(stop, named, time_limit)
    claim = claim_of(problems, named, init, rule, time_limit)
    place, stored, remarks = (None, None, []) if store is None else open_store(store, claim)
    shared = _settings(rule, init, time_limit)
    plan = _Plan(problems, named, starts, claim, shared, place, stored, remarks)
    plan.recall()
    deadline = None if budget is None else time.time() + budget
    pool = in_parallel(n_jobs, backend, return_as="generator")
    with interruptions_noted():
        plan.run(Rules(init, rule, time_limit, deadline, place), pool, progress)
        with interruptions_held():  # nothing that is finished is lost while it is put together
            return plan.finished()


@dataclass(eq=False)
class _Plan:
    """The runs to make and those that are made."""

    problems: Problems
    solvers: Mapping[str, AnySolver]
    seeds: list[int]
    claim: dict[str, str]
    settings: dict[str, str]
    store: Store | None
    stored: Index | None
    remarks: list[str]
    rows: dict[Task, Row] = field(default_factory=dict)
    results: dict[Task, Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tasks = [
            (p, s, seed) for p in self.problems for seed in self.seeds for s in self.solvers
        ]
        self.rows = {
            task: row_without(task, "NOT_RUN", "it was not reached") for task in self.tasks
        }

    def recall(self) -> None:
        """Take over what the store has; a run that is damaged is made again."""
        if self.store is not None:
            for task in self.tasks:
                try:
                    result = self.store.run(task).read()
                except InputError as error:
                    self.remarks.append(f"a stored run is repeated: {error}")
                    continue
                if result is not None:
                    self.rows[task], self.results[task] = row_of(task, result), result
            self._write_index()

    def run(self, rules: Rules, pool: Parallel, progress: bool) -> None:
        """Make the runs that are missing; one that ends early leaves rows that say why."""
        missing = [task for task in self.tasks if task not in self.results]
        # Seeds go round before problems, so that a budget cuts off the last seeds of all of them.
        todo = sorted(missing, key=lambda task: self.seeds.index(task[2]))
        left = set(todo)
        reason = "it was not reached"
        try:
            for row, result in self._made(todo, rules, pool, progress):
                task = (row["problem"], row["solver"], row["seed"])
                left.discard(task)
                self.rows[task] = row
                if result is not None:
                    self.results[task] = result
        except KeyboardInterrupt:
            reason = INTERRUPTION
        except BrokenProcessPool:
            reason = "a process died, perhaps because memory ran out; try fewer processes"
        self.rows |= {task: row_without(task, "NOT_RUN", reason) for task in left}

    def _made(
        self, todo: list[Task], rules: Rules, pool: Parallel, progress: bool
    ) -> Iterator[tuple[Row, Result | None]]:
        """Yield the runs in turn, as they are made by one process or several."""
        work = (
            job(run_single)(task, self.problems[task[0]], self.solvers[task[1]], rules)
            for task in todo
        )
        bar = CountBar("comparing", len(todo)) if progress else None
        outputs = pool(work)
        try:
            for row, result in outputs:
                yield row, result
                if bar is not None:
                    bar.step()
                if result is not None and result.interrupted:
                    raise KeyboardInterrupt  # it was meant for all of them
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that what is not finished is dropped is meant
                outputs.close()
            if bar is not None:
                bar.close()

    def _write_index(self) -> None:
        if self.store is not None and self.stored is not None:
            rows = merged(self.stored.rows, self.rows.values())
            self.store.write_index(Index(self.stored.claim | self.claim, self.settings, rows))

    def finished(self) -> Comparison:
        """Store the list of runs; return them in the order of the problems, seeds and solvers."""
        import pandas as pd

        try:
            self._write_index()
        except InputError as error:
            self.remarks.append(f"the list of runs was not stored: {error}")
        table = pd.DataFrame([self.rows[task] for task in self.tasks], columns=list(COLUMNS))
        results = {
            task: replace(self.results[task], problem=self.problems[task[0]])
            for task in self.tasks
            if task in self.results
        }
        return Comparison(table, results, self.settings, self.claim, tuple(self.remarks))


def _settings(rule: Stop, init: Any, time_limit: float | None) -> dict[str, str]:
    """Return what is the same for all runs, in words for a reader."""
    return {
        "stop, the same for all": repr(rule),
        "start, shared by seed": "the default" if init is None else type(init).__name__,
        "seconds for a run": "no limit" if time_limit is None else f"{time_limit:g}",
        "threads of a run": "1",
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
