"""`solve`: the only outer loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from conicnmf.blocks import Factors
from conicnmf.checkpoint import Checkpoint
from conicnmf.errors import InputError, SolveError
from conicnmf.factorization import as_statement
from conicnmf.problem import Problem
from conicnmf.result import Iteration, Result, Status
from conicnmf.running import Run
from conicnmf.solvers.base import Context, Solver
from conicnmf.statement import Statement
from conicnmf.stop import MaxIter, Stop, TimeLimit


class Monitor(Protocol):
    """Something that watches a solve, such as a progress bar."""

    def update(self, iteration: Iteration) -> None:
        """See one iteration."""

    def close(self) -> None:
        """See the end."""


def solve(
    problem: Problem | Statement,
    solver: Solver | None = None,
    *,
    init: Any = None,
    stop: Stop | int | None = None,
    seed: int | None = 0,
    callback: Callable[[Iteration, Factors], Any] | None = None,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | Monitor = False,
    throw: bool = True,
) -> Result:
    """Solve a problem: a factorization, a projection or an autoencoder.

    Parameters
    ----------
    problem : Problem or Statement
    solver : Solver, optional
        The method; by default one that fits is picked, see `Problem.explain`.
    init : Start or pair of arrays, optional
        Where to start, `Random` by default. It is brought into the constraint set first.
    stop : Stop or int, optional
        When to end, for example ``MaxIter(200) | RelDecrease(1e-5)``; a number is an iteration
        limit. By default each solver has its own rule.
    seed : int or None
        The same seed gives the same answer; None draws a new one.
    callback : callable, optional
        Called as callback(iteration, factors) after each iteration; a true value ends the solve.
    time_limit : float, optional
        Seconds after which the best iterate so far is returned.
    checkpoint : str or Path, optional
        A file (.npz) to which the state is written twice a minute and at the end, and from which
        a solve that was killed goes on: called again with the same arguments, it continues.
        Solvers whose `pack` returns what they remember go on exactly, others begin that anew.
    progress : bool or Monitor
        Show a progress bar.
    throw : bool
        Raise a `SolveError` (with the best iterate in it) when the status is a failure.

    Returns
    -------
    Result
        The best feasible iterate.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.solve(cn.factorize(np.ones((4, 3)), 1), cn.HALS()).status.name
    'CONVERGED'
    """
    statement = as_statement(problem)
    solver = statement.choose()[0] if solver is None else solver
    if not isinstance(solver, Solver):
        raise InputError(f"solver must be a Solver such as HALS(), got {solver!r}; add parentheses")
    statement.require_fit(solver)
    rule = _stop_rule(solver, stop, time_limit)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _as_seed(seed)
    if callback is not None and not callable(callback):
        raise InputError(
            f"callback must be a function (iteration, factors), got {callback!r}; use None"
        )
    begin = time.perf_counter()
    run = Run(statement, begin, solver.states_objective)
    claim = {"problem": repr(statement.problem), "solver": str(solver), "seed": str(seed)}
    file = None if checkpoint is None else Checkpoint(checkpoint, claim)
    monitor = _monitor(progress, solver)
    try:
        status = _loop(run, solver, init, rule, seed, callback, time_limit, monitor, file)
    finally:
        monitor.close()
    result = _result(run, solver, status, seed)
    if throw and result.status.kind == "failed":
        raise SolveError(f"{result.status.name}: {result.status.value}", result)
    return result


def choose_solver(problem: Problem | Statement) -> Solver:
    """Return the solver that `solve` picks when none is named."""
    return as_statement(problem).choose()[0]


def _loop(
    run: Run,
    solver: Solver,
    init: Any,
    rule: Stop,
    seed: int,
    callback: Callable[[Iteration, Factors], Any] | None,
    time_limit: float | None,
    monitor: Monitor,
    file: Checkpoint | None,
) -> Status:
    """Iterate until something says stop."""
    rng = np.random.default_rng(seed)
    view = run.statement.view
    saved = None if file is None else file.read()
    if saved is None:
        run.record(run.statement.start(init, rng))
    else:
        run.resume(saved)
    monitor.update(run.history[-1])
    deadline = np.inf if time_limit is None else run.begin + time_limit
    memo = None
    try:
        memo = solver.start(view, Context(rng, deadline))
        if saved is not None:
            memo = solver.unpack(saved.arrays.get("memo", {}), memo)
            rng.bit_generator.state = saved.values["rng"]
        status = rule.check(run.history)
        while status is None:
            sweep = solver.sweep(view, run.factors, memo)
            memo = sweep.memo
            if not all(np.isfinite(X).all() for X in sweep.factors.values()):
                return Status.NOT_FINITE
            iteration = run.record(sweep.factors, sweep)
            monitor.update(iteration)
            if np.isnan(iteration.objective):
                return Status.NOT_FINITE
            if sweep.status is not None:
                late = time.perf_counter() >= deadline
                return Status.TIME_LIMIT if late else sweep.status
            if callback is not None and callback(iteration, sweep.factors):
                return Status.CALLBACK
            if file is not None and file.is_due():
                file.write(run.state(solver.pack(memo), rng))
            status = rule.check(run.history)
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    finally:
        if file is not None and memo is not None:
            file.write(run.state(solver.pack(memo), rng))
    return status


def _result(run: Run, solver: Solver, status: Status, seed: int) -> Result:
    """Return the best iterate, with a status that owns up to what is wrong with it."""
    statement, factors = run.statement, run.best
    if statement.collapsed(factors):
        status = Status.COLLAPSED
    elif run.best_rank[0] and status.kind != "failed":
        finite = np.isfinite(run.history.objective).any()
        status = Status.INFEASIBLE if finite else Status.NOT_FINITE
    return Result(
        factors=factors,
        objective=statement.objective(factors),
        relative_error=statement.relative_error(factors),
        violation=statement.violations(factors),
        status=status,
        history=run.history,
        seed=seed,
        solver=str(solver),
        problem=repr(statement.problem),
        versions=_versions(),
        statement=statement.problem,
    )


def _stop_rule(solver: Solver, stop: Stop | int | None, time_limit: float | None) -> Stop:
    if stop is None:
        rule = solver.default_stop
    elif isinstance(stop, Stop):
        rule = stop
    elif isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        rule = MaxIter(int(stop))
    else:
        raise InputError(
            f"stop must be a Stop rule or an iteration limit, got {stop!r}; try stop=100"
        )
    return rule if time_limit is None else TimeLimit(time_limit) | rule


def _as_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number >= 0 or None, got {seed!r}; try seed=0")
    return int(seed)


class _Silent:
    def update(self, iteration: Iteration) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


def _monitor(progress: bool | Monitor, solver: Solver) -> Monitor:
    if progress is False:
        return _Silent()
    if progress is True:
        from conicnmf.monitor import ProgressBar

        return ProgressBar(solver.name)
    return progress


@cache
def _versions() -> dict[str, str]:
    names = ("conicnmf", "numpy", "scipy", "numba", "cvxpy", "clarabel", "ecos", "scs")
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
