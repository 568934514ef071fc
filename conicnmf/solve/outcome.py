"""From what happened in a solve to its `Result`, with a status that owns up to what is wrong."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from conicnmf.model.addends.fit import each_value_once
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result, Status
from conicnmf.solve.guard import in_words
from conicnmf.solve.methods.base import AnySolver
from conicnmf.solve.run_state import Run
from conicnmf.types import Factors


def outcome(problem: BaseProblem, run: Run, solver: AnySolver, status: Status, seed: int) -> Result:
    """Return the best iterate, in the units of the stated problem."""
    best = run.stated(run.best)
    # In the order in which the problem names them, not in which they were updated.
    factors = {name: best[name] for name in problem.shapes if name in best} | best
    status = _honest(problem, run, factors, status)
    measures = _measures(problem, run, factors)
    if status is Status.INFEASIBLE and measures["violation"]:
        rule, far = max(measures["violation"].items(), key=lambda item: item[1])
        run.remark(f"{rule} is violated by {far:.2g}")
    if status is Status.BACKEND_FAILED:
        for record in run.history[-1].inner:
            if not record.ok:
                run.remark(f"{record.backend} ended with {record.status}")
    return Result(
        factors=problem.holding.delivered(factors),
        **measures,
        status=status,
        history=run.history,
        seed=seed,
        solver=str(solver),
        problem_text=repr(problem),
        versions=_versions(),
        promises=solver.promises,
        direction=None if run.direction is None else run.stated(run.direction),
        problem=problem,
        components=problem.component_sides(),
        remarks=tuple(run.remarks),
        names=problem.names,
        method="" if solver.name == type(solver).__name__ else solver.name,
    )


def _honest(problem: BaseProblem, run: Run, factors: Factors, status: Status) -> Status:
    """Return the status, or a failure that it would hide."""
    if not run.keeps_best and status in (Status.OSCILLATING, Status.NOT_IMPROVED):
        status = Status.CONVERGED  # the last iterate is the answer, whatever the objective did
    if status is Status.INFEASIBLE and not np.isfinite(run.history.objective).any():
        return Status.NOT_FINITE
    if not run.best_rank[0] or status.kind == "failed":
        return status
    if status is Status.INTERRUPTED:
        run.remark(Status.INTERRUPTED.value)
    if status is Status.TIME_LIMIT:
        run.remark(
            "the time limit was reached before a feasible point was found; allow more time, or "
            "pass such a point with init="
        )
    if not np.isfinite(run.history.objective).any():
        return Status.NOT_FINITE
    return Status.COLLAPSED if problem.collapsed(factors) else Status.INFEASIBLE


def _measures(problem: BaseProblem, run: Run, factors: Factors) -> dict[str, Any]:
    """Return what is measured at the factors, as far as nothing raises."""
    try:
        with each_value_once():
            return {
                "objective": problem.objective(factors),
                "relative_error": problem.relative_error(factors),
                "violation": problem.violations(factors),
                "relative_errors": problem.relative_errors(factors),
            }
    except Exception as error:  # a term that raised once raises again
        run.remark(f"the result could not be evaluated again: {in_words(error)}")
        infeasible, known = run.best_rank
        return {
            "objective": np.nan if infeasible else known,
            "relative_error": np.nan,
            "violation": {"largest": known if infeasible else 0.0},
        }


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
