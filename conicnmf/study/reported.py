"""What a result reports, held against its factors: feasibility, objective, status and history."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.results import Result, Status
from conicnmf.study.check import Check


def feasibility_of(problem: BaseProblem, result: Result, tolerance: float) -> Iterator[Check]:
    """Measure every constraint on the factors themselves, not from the result's own report."""
    for name, measured in problem.violations(result.factors).items():
        yield Check(f"feasible, {name}", measured, tolerance)


def status_of(problem: BaseProblem, result: Result) -> Check:
    """Hold the status against the factors: a failure, or one that it should have been."""
    collapsed = problem.collapsed(result.factors) and result.status is not Status.COLLAPSED
    note = f"{result.status.name}, but a component is zero" if collapsed else result.status.name
    return Check("solve did not fail", float(collapsed or result.status.kind == "failed"), 0, note)


def as_reported(problem: BaseProblem, result: Result, feasibility: float) -> Iterator[Check]:
    """Hold what the result reports against the factors, the objective by another route."""
    factors = result.factors
    relative, rounding = (1e-4, 1e-6) if is_single(result) else (1e-7, 1e-12)
    # An exact fit leaves nothing but rounding, which is relative to V.
    gap = abs(problem.restated(factors) - result.objective)
    gap = 0.0 if gap <= rounding * problem.unit else gap / (abs(result.objective) or 1.0)
    yield Check("objective as reported", gap, relative)
    errors = {"": problem.relative_error(factors)} | problem.relative_errors(factors)
    reported = {"": result.relative_error} | result.relative_errors
    gaps = [_gap(errors[name], reported.get(name, np.inf), rounding) for name in errors]
    yield Check("relative error as reported", max(gaps), relative)
    worst = problem.violation(factors)
    yield Check("violation as reported", abs(worst - result.max_violation), feasibility)


def _gap(own: float, reported: float, rounding: float) -> float:
    """Return the relative difference; where nothing is reconstructed, both are no number."""
    if np.isnan(own) and np.isnan(reported):
        return 0.0
    gap = abs(own - reported)
    return 0.0 if gap <= rounding else gap / (abs(own) or 1.0)


def trace_of(problem: BaseProblem, result: Result, feasibility: float) -> Iterator[Check]:
    """Look for feasible iterates better than the result, and for rises that were ruled out."""
    values, violations = result.history.objective, result.history.violation
    seen = values[(violations <= feasibility) & np.isfinite(values)]
    whole = _whole(problem, result)
    # Objectives are differences of numbers of the size of V, and single precision has few digits.
    noise, relative = (1e-5, 1e-4) if is_single(result) else (1e-12, 1e-6)
    size = max(abs(result.objective), noise / relative * whole) or 1.0
    if seen.size and result.promises.keeps_best:
        lost = max(0.0, result.objective - float(seen.min())) / size
        yield Check("best feasible iterate kept", lost, relative)
        # What is returned was an iterate, so a history without its objective is not its own.
        nearest = float(np.abs(values - result.objective).min())
        yield Check("history holds the result", nearest / size, relative)
    inside = violations <= feasibility  # on the way to the first feasible point values may rise
    # Between infinite values there is no difference.
    rose = (values[1:] > values[:-1]) & inside[1:] & inside[:-1]
    rise = float((values[1:][rose] - values[:-1][rose]).max(initial=0.0)) / size
    promised = result.promises.monotone
    note = "" if promised else not_promised(result)
    yield Check("trace never rises", rise, 0.1 * relative if promised else np.inf, note)


def _whole(problem: BaseProblem, result: Result) -> float:
    """Return the size of the numbers that were at stake: the data's, or what the start had."""
    values = result.history.objective
    started = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return max(started, problem.unit)


def exact_fit(problem: BaseProblem, result: Result) -> float:
    """Return the objective up to which a fit is exact: a gain counts in units of at least this."""
    return (1e-4 if is_single(result) else 1e-6) * _whole(problem, result)


def is_single(result: Result) -> bool:
    """Return whether a factor is in single precision."""
    return any(X.dtype == np.float32 for X in result.factors.values())


def not_promised(result: Result) -> str:
    """Return what is said of a check that the solver does not promise to pass."""
    return f"{result.solver_text.split('(')[0]} does not guarantee it"
