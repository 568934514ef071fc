"""`solve`: the only outer loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np

from conicnmf.blocks import Factors
from conicnmf.errors import InputError, SolveError
from conicnmf.factorization import as_statement
from conicnmf.problem import Problem
from conicnmf.result import History, Iteration, Result, Status
from conicnmf.solvers.base import Context, Solver, Sweep
from conicnmf.statement import Statement
from conicnmf.stop import MaxIter, Stop, TimeLimit

TOLERANCE = 1e-6
"""A factor is feasible when no constraint is violated by more than this, ten times that in float32."""


class Monitor(Protocol):
    """Something that watches a solve, such as a progress bar."""

    def update(self, iteration: Iteration) -> None:
        """See one iteration."""

    def close(self) -> None:
        """See the end."""


@dataclass(eq=False)
class _Run:
    """The state of one solve: the last iterate, the best feasible one, and the history."""

    statement: Statement
    begin: float
    keeps_best: bool = True
    history: History = field(default_factory=History)
    best: Factors = field(default_factory=dict)
    best_rank: tuple[bool, float] = (True, np.inf)

    def record(self, factors: Factors, before: Factors | None, sweep: Sweep | None) -> Iteration:
        """Measure an iterate and keep it when it is the best."""
        known = sweep.objective if sweep is not None else None
        objective = self.statement.objective(factors) if known is None else known
        violation = max(self.statement.violations(factors).values(), default=0.0)
        iteration = Iteration(
            len(self.history),
            objective,
            violation,
            time.perf_counter() - self.begin,
            _change(before, factors),
            sweep.inner if sweep is not None else (),
            sweep.notes if sweep is not None else {},
        )
        self.history.append(iteration)
        single = any(X.dtype == np.float32 for X in factors.values())
        tolerance = 10 * TOLERANCE if single else TOLERANCE
        infeasible = not violation <= tolerance or self.statement.collapsed(factors)
        rank = (infeasible, violation if infeasible else objective)
        wanted = rank < self.best_rank or not self.keeps_best
        if wanted and np.isfinite(objective):
            self.best, self.best_rank = factors, rank
        elif not self.best:
            self.best = factors  # an infinite start is better than none
        return iteration


def solve(
    problem: Problem | Statement,
    solver: Solver | None = None,
    *,
    init: Any = None,
    stop: Stop | int | None = None,
    seed: int | None = 0,
    callback: Callable[[Iteration, Factors], Any] | None = None,
    time_limit: float | None = None,
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
    run = _Run(statement, begin, solver.states_objective)
    monitor = _monitor(progress, solver)
    try:
        status = _loop(run, solver, init, rule, seed, callback, time_limit, monitor)
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
    run: _Run,
    solver: Solver,
    init: Any,
    rule: Stop,
    seed: int,
    callback: Callable[[Iteration, Factors], Any] | None,
    time_limit: float | None,
    monitor: Monitor,
) -> Status:
    """Iterate until something says stop."""
    rng = np.random.default_rng(seed)
    view = run.statement.view
    factors = run.statement.start(init, rng)
    monitor.update(run.record(factors, None, None))
    deadline = np.inf if time_limit is None else run.begin + time_limit
    try:
        memo = solver.start(view, Context(rng, deadline))
        status = rule.check(run.history)
        while status is None:
            sweep = solver.sweep(view, factors, memo)
            before, factors, memo = factors, sweep.factors, sweep.memo
            if not all(np.isfinite(X).all() for X in factors.values()):
                return Status.NOT_FINITE
            iteration = run.record(factors, before, sweep)
            monitor.update(iteration)
            if np.isnan(iteration.objective):
                return Status.NOT_FINITE
            if sweep.status is not None:
                late = time.perf_counter() >= deadline
                return Status.TIME_LIMIT if late else sweep.status
            if callback is not None and callback(iteration, factors):
                return Status.CALLBACK
            status = rule.check(run.history)
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    return status


def _result(run: _Run, solver: Solver, status: Status, seed: int) -> Result:
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


def _change(before: Factors | None, after: Factors) -> float:
    """Return the largest relative change of any factor."""
    if before is None:
        return float("inf")
    changes = []
    for name, X in after.items():
        size = float(np.linalg.norm(X))
        moved = float(np.linalg.norm(X - before[name]))
        changes.append(moved / size if size else float(moved > 0))
    return max(changes)


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
