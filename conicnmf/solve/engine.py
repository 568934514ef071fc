"""`solve`: the only outer loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from conicnmf.errors import InputError, SolveError
from conicnmf.model.base import BaseProblem
from conicnmf.results import Iteration, Result, Status
from conicnmf.solve.checkpoint import Checkpoint, claim_of
from conicnmf.solve.choice import as_problem, choose, require_fit
from conicnmf.solve.methods.base import AnySolver, Context, as_solver
from conicnmf.solve.run_state import Run
from conicnmf.solve.starts import Init
from conicnmf.solve.stop import Stop, TimeLimit, as_stop, settled
from conicnmf.types import Factors

_STEADY = 1e-4
"""A solver that says it has converged may end this part of the objective above its best iterate."""


class Monitor(Protocol):
    """Something that watches a solve, such as a progress bar."""

    def update(self, iteration: Iteration) -> None:
        """See one iteration."""

    def close(self) -> None:
        """See the end."""


def solve(
    problem: BaseProblem,
    solver: AnySolver | str | None = None,
    *,
    init: Init = None,
    stop: Stop | int | None = None,
    seed: int | None = 0,
    callback: Callable[[Iteration, Factors], Any] | None = None,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | Monitor = False,
    throw: bool = True,
) -> Result:
    """Solve a problem: a factorization, a one-factor problem or an autoencoder.

    Parameters
    ----------
    problem : Problem
    solver : Solver or str, optional
        The method, or its name; by default one that fits is picked, see `Problem.explain`.
    init : Start, str or pair of arrays, optional
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
    problem = as_problem(problem)
    method = choose(problem)[0] if solver is None else as_solver(solver)
    require_fit(problem, method)
    rule = as_stop(stop, method.default_stop)
    if time_limit is not None:
        rule = TimeLimit(time_limit) | rule
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else _as_seed(seed)
    if callback is not None and not callable(callback):
        raise InputError(
            f"callback must be a function (iteration, factors), got {callback!r}; use None"
        )
    begin = time.perf_counter()
    seen = problem if method.absolute else problem.normalized()
    run = Run(seen, begin, method.promises.keeps_best)
    file = None
    if checkpoint is not None:
        file = Checkpoint(checkpoint, claim_of(problem, method, seed, init))
    monitor = _monitor(progress, method)
    try:
        status = _loop(run, method, init, rule, seed, callback, time_limit, monitor, file)
    finally:
        monitor.close()
    result = _result(problem, run, method, status, seed)
    if throw and result.status.kind == "failed":
        raise SolveError(f"{result.status.name}: {result.status.value}", result)
    return result


def _loop(
    run: Run,
    solver: AnySolver,
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
    saved = None if file is None else file.read()
    if saved is None:
        run.record(run.problem.start(init, rng))
    else:
        run.resume(saved)
    monitor.update(run.history[-1])
    deadline = np.inf if time_limit is None else run.begin + time_limit
    memo = None
    try:
        memo = solver.start(run.problem, Context(rng, deadline))
        if saved is not None:
            memo = solver.unpack(saved.arrays.get("memo", {}), memo)
            rng.bit_generator.state = saved.values["rng"]
        status = rule.check(run.history)
        while status is None:
            sweep = solver.sweep(run.problem, run.factors, memo)
            memo = sweep.memo
            if not all(np.isfinite(X).all() for X in sweep.factors.values()):
                return Status.NOT_FINITE
            iteration = run.record(sweep.factors, sweep)
            monitor.update(iteration)
            if np.isnan(iteration.objective):
                return Status.NOT_FINITE
            if sweep.status is not None:
                run.direction = sweep.direction
                if time.perf_counter() >= deadline:
                    return Status.TIME_LIMIT
                if sweep.status is Status.CONVERGED:
                    return settled(run.history, _STEADY * abs(run.history.lowest[-1]))
                return sweep.status
            if callback is not None and callback(iteration, run.stated(sweep.factors)):
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


def _result(problem: BaseProblem, run: Run, solver: AnySolver, status: Status, seed: int) -> Result:
    """Return the best iterate, with a status that owns up to what is wrong with it."""
    best = run.stated(run.best)
    # In the order in which the problem names them, not in which they were updated.
    factors = {name: best[name] for name in problem.shapes if name in best} | best
    if not run.keeps_best and status in (Status.OSCILLATING, Status.NOT_IMPROVED):
        status = Status.CONVERGED  # the last iterate is the answer, whatever the objective did
    if problem.collapsed(factors):
        status = Status.COLLAPSED
    elif run.best_rank[0] and status.kind != "failed":
        finite = np.isfinite(run.history.objective).any()
        status = Status.INFEASIBLE if finite else Status.NOT_FINITE
    return Result(
        factors=factors,
        objective=problem.objective(factors),
        relative_error=problem.relative_error(factors),
        violation=problem.violations(factors),
        status=status,
        history=run.history,
        seed=seed,
        solver=str(solver),
        problem_text=repr(problem),
        versions=_versions(),
        promises=solver.promises,
        direction=None if run.direction is None else run.stated(run.direction),
        problem=problem,
        relative_errors=problem.relative_errors(factors),
        components=problem.component_sides(),
    )


def _as_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number >= 0 or None, got {seed!r}; try seed=0")
    return int(seed)


class _Silent:
    def update(self, iteration: Iteration) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


def _monitor(progress: bool | Monitor, solver: AnySolver) -> Monitor:
    if progress is False:
        return _Silent()
    if progress is True:
        from conicnmf.solve.monitor import ProgressBar

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
