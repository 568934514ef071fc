"""`solve`: the only outer loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conicnmf.errors import ConicNMFError, SolveError, warn_user
from conicnmf.kernels.threads import threads
from conicnmf.model.at_factors import iterating
from conicnmf.results import Iteration, Result, Status
from conicnmf.settings import Count, Place, Seconds, Whole, checks_arguments
from conicnmf.solve.checkpoint import Checkpoint, State, claim_of
from conicnmf.solve.choice import Effort, Stated, choose, race, require_fit
from conicnmf.solve.deadline import is_late, until
from conicnmf.solve.guard import (
    in_words,
    interrupted,
    interruptions_held,
    interruptions_noted,
    is_fault,
    raise_noted,
)
from conicnmf.solve.methods.base import AnySolver, Context, SolverLike, Sweep, as_solver
from conicnmf.solve.outcome import outcome
from conicnmf.solve.run_state import Run
from conicnmf.solve.runaway_scale import runaway_scales
from conicnmf.solve.starts import Init
from conicnmf.solve.stop import Stop, StopLike, TimeLimit, as_stop, settled
from conicnmf.solve.watchers import Monitor, Watchers
from conicnmf.types import Factors

_STEADY = 1e-4
"""A solver that says it has converged may end this part of the objective above its best iterate."""


@checks_arguments
def solve(
    problem: Stated,
    solver: SolverLike | None = None,
    *,
    init: Init = None,
    stop: StopLike | None = None,
    seed: Whole | None = 0,
    callback: Callable[[Iteration, Factors], Any] | None = None,
    time_limit: Seconds | None = None,
    checkpoint: Place | None = None,
    progress: bool | Monitor = False,
    throw: bool = True,
    n_threads: Count | None = None,
    effort: Effort = "low",
) -> Result:
    """Solve a problem: a factorization, a one-factor problem or an autoencoder.

    Parameters
    ----------
    problem : Problem
    solver : Solver or str, optional
        The method, or its name; by default one that fits is picked, see `Problem.explain`.
    init : Start, str or pair of arrays, optional
        Where to start, `Random` by default. The start is made feasible first.
    stop : Stop or int, optional
        When to end, for example ``MaxIter(200) | RelDecrease(1e-5)``; a number is an iteration
        limit. By default each solver has its own rule.
    seed : int or None
        The same seed gives the same answer; None draws a new one.
    callback : callable, optional
        Called as callback(iteration, factors) after each iteration; a true value stops the solve.
        The factors are read-only.
    time_limit : float, optional
        Seconds after which the best iterate so far is returned.
    checkpoint : str or Path, optional
        A file (.npz) to which the state is written twice a minute and at the end, and from which
        a solve that was killed continues if it is called again with the same arguments.
        Solvers whose `pack` returns what they remember continue exactly; others rebuild it.
        A file that cannot be written raises an error at once; if writing fails later, the result has a
        remark.
    progress : bool or Monitor
        Show a progress bar.
    throw : bool
        Raise a `SolveError`, which holds the best iterate, if the status is a failure. An exception in
        a backend, a term or the callback is such a failure.
    n_threads : int, optional
        Threads for work done column by column (exact codes, steps on counts, sweeps); the result does
        not depend on their number. NUMBA_NUM_THREADS by default. Matrix products use the threads of
        the BLAS library, which has its own settings.
    effort : {"low", "normal", "high"}
        How hard to search for a good optimum if a constraint is not convex, such as a lower bound on
        sparseness: a `Race` of up to four solvers from 2, 8 or 24 starts, in which runs that cannot
        win are dropped. There is no race if you name a solver or pass a start, or if the problem
        needs cone programs; at low effort also not with more than 25 components.

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
    problem = problem.current()
    if solver is not None:
        method = as_solver(solver)
    else:
        method = (race(problem, effort) if init is None else None) or choose(problem)[0]
    require_fit(problem, method)
    rule = as_stop(stop, method.default_stop)
    if time_limit is not None:
        rule = TimeLimit(time_limit) | rule
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    begin = time.perf_counter()
    file = None
    if checkpoint is not None:
        file = Checkpoint(checkpoint, claim_of(problem, method, seed, init))
    deadline = np.inf if time_limit is None else begin + time_limit
    context = Context(np.random.default_rng(seed), deadline)
    opened = problem.holding.opened()
    with interruptions_noted(), until(deadline), threads(n_threads), opened, iterating():
        seen = problem if method.absolute else problem.normalized()
        run = Run(seen, begin, method.promises.keeps_best)
        for sentence in runaway_scales(problem):
            run.remark(f"As stated, {sentence}.")
            warn_user(sentence)
        watchers = Watchers(run, callback, _monitor(progress, method))
        try:
            status = _Loop(run, method, rule, context, watchers, file).turn(init)
        finally:
            watchers.close()
        with interruptions_held():
            result = outcome(problem, run, method, status, seed)
        if interrupted() and result.status.kind != "failed":
            result = replace(result, status=Status.INTERRUPTED)
    if throw and result.status.kind == "failed":
        said = (f"{result.status.name}: {result.status.value}", *result.remarks)
        raise SolveError("\n".join(said), result) from run.error
    return result


@dataclass(eq=False)
class _Loop:
    """One solve under way. Whatever raises in it, the best iterate stays in `run`."""

    run: Run
    solver: AnySolver
    rule: Stop
    context: Context
    watchers: Watchers
    file: Checkpoint | None
    memo: Any = None

    def turn(self, init: Any) -> Status:
        """Start, and iterate until something says stop or raises."""
        saved = None
        if self.file is not None:
            self.file.reserve()
            saved = self.file.read()
        self._start(init, saved)
        try:
            self._prepare(saved)
            return self._iterate()
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        except BaseException as error:
            stated_wrong = isinstance(error, ConicNMFError) and self.memo is None
            if stated_wrong or not is_fault(error):
                raise
            self.run.note_fault(error)
            return Status.ERROR
        finally:
            self._save()

    def _start(self, init: Any, saved: State | None) -> None:
        """Take the first iterate from the checkpoint, or from the start."""
        self.run.at = "the start"
        try:
            if saved is None:
                self.run.record(self._begun(init))
            else:
                self.run.resume(saved)
        except BaseException as error:
            if isinstance(error, ConicNMFError) or not is_fault(error):
                raise
            raise SolveError(
                f"{Status.ERROR.name}: the start raised {in_words(error)}, so there is no result. "
                "Pass another start with init=, or fix the error"
            ) from error

    def _begun(self, init: Any) -> Factors:
        """Return the start, which is found in units of one whatever the solver sees."""
        problem, rng = self.run.problem, self.context.rng
        if not self.solver.absolute:
            return problem.start(init, rng)
        within = problem.normalized()
        return within.units.outward(within.start(init, rng))

    def _prepare(self, saved: State | None) -> None:
        """Let the solver set up what it remembers, or take it from the checkpoint."""
        run, rng = self.run, self.context.rng
        self.watchers.show(run.history[-1])
        run.at = "the solver"
        memo = self.solver.start(run.problem, self.context)
        if saved is not None:
            if run.problem.holding.exact:
                memo = self.solver.unpack(saved.arrays.get("memo", {}), memo)
            rng.bit_generator.state = saved.values["rng"]
        self.memo = memo

    def _iterate(self) -> Status:
        """Let the solver work until it, a rule, a watcher or the keyboard ends it."""
        run, status = self.run, self.rule.check(self.run.history)
        while status is None:
            run.at = "the solver"
            sweep = self.solver.sweep(run.problem, run.factors, self.memo)
            raise_noted()
            self.memo = sweep.memo
            if not run.problem.holding.finite(sweep.factors):
                return Status.NOT_FINITE
            run.at = "the objective"
            iteration = run.record(sweep.factors, sweep)
            status = self._ended(sweep, iteration)
            if status is None and self.watchers.asked_to_stop(iteration, sweep.factors):
                status = Status.CALLBACK
            if status is None and self.file is not None and self.file.is_due():
                self._save()
            raise_noted()
            status = status or self._checked(sweep.busy)
        return status

    def _checked(self, busy: bool) -> Status | None:
        """Ask the rule; where the solver has settled, ask that for a way on."""
        run = self.run
        run.at = "the stop rule"
        status = self.rule.check(run.history)
        settled_now = status in (Status.CONVERGED, Status.STILL_FALLING)
        if busy and (settled_now or status in (Status.OSCILLATING, Status.NOT_IMPROVED)):
            return None
        if not settled_now or not run.keeps_best or is_late():
            return status
        run.at = "the solver"
        better = self.solver.revived(run.problem, run.best)
        if better is None:
            return status
        self.watchers.show(run.record(better))
        self.memo = self.solver.again(run.problem, better, self.memo, self.context)
        return self.rule.check(run.history)

    def _ended(self, sweep: Sweep[Any], iteration: Iteration) -> Status | None:
        """Return how the solver says that it ended, if it does."""
        self.watchers.show(iteration)
        if np.isnan(iteration.objective):
            return Status.NOT_FINITE
        if sweep.status is None:
            return None
        self.run.direction = sweep.direction
        if is_late():
            return Status.TIME_LIMIT
        if sweep.status in (Status.CONVERGED, Status.AT_REST):
            history = self.run.history
            ended = settled(history, _STEADY * abs(history.lowest[-1]))
            return sweep.status if ended is Status.CONVERGED else ended
        return sweep.status

    def _save(self) -> None:
        """Write the checkpoint; the solve goes on without it where that fails."""
        if self.file is None or self.memo is None:
            return
        try:
            with interruptions_held():
                exact = self.run.problem.holding.exact
                packed = self.solver.pack(self.memo) if exact else {}
                self.file.write(self.run.state(packed, self.context.rng))
        except Exception as error:  # a full disk must not cost the answer
            self.run.remark(f"the checkpoint could not be written: {in_words(error)}")


def _monitor(progress: bool | Monitor, solver: AnySolver) -> Monitor | None:
    if progress is False:
        return None
    if progress is True:
        from conicnmf.solve.monitor import ProgressBar

        return ProgressBar(solver.name)
    return progress
