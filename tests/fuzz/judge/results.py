"""What a result should say, by the case's own measures; each difference is a finding.

A case has `shapes`, `objective(X)`, `violation(X)`, `size(X)`, `errors(X)` and `single`, where X are
values by name; nothing here asks the package.
"""

from __future__ import annotations

import numpy as np

from .findings import Finding

FEASIBLE = 1e-6
"""The package calls an iterate feasible up to this violation."""


def judge(case, result, X):
    """Yield what is wrong with a result whose values under the case's names are X."""
    shapes = {name: own.shape for name, own in X.items()}
    if shapes != case.shapes:
        yield Finding("shape", f"{shapes}, stated {case.shapes}")
        return
    failed = result.status.kind == "failed"
    if not all(np.isfinite(own).all() for own in X.values()):
        if not failed:
            yield Finding("not finite", f"{result.status.name} with entries that are not finite")
        return
    yield from _objective(case, result.objective, X)
    yield from _relative_error(case, result, X)
    if not failed:
        yield from _feasible(case, result, X)
        yield from _best_kept(case, result, X)
    yield from _monotone(case, result, X)


def slack(case, value, X, relative=1e-7, floor=1e-12):
    """Return the difference that rounding explains, more of it in single precision."""
    if case.single:
        relative, floor = max(relative, 1e-4), 1e-5
    # Squares below the smallest number of a precision are zero in it, some hundred of them too.
    least = 1000 * np.finfo(np.float32 if case.single else float).tiny
    return relative * abs(value) + floor * case.size(X) + float(least)


def _objective(case, told, X, kind="objective"):
    own = case.objective(X)
    if own == told == np.inf:
        return  # out of the domain of a divergence
    if not abs(own - told) <= slack(case, own, X):
        yield Finding(kind, f"reported {told:.9g}, is {own:.9g}")


def _relative_error(case, result, X):
    own = case.errors(X)
    if not own:
        return
    told = {"in all": result.relative_error}
    pairs = {"in all": tuple(map(sum, zip(*own.values(), strict=True)))}
    # CVXPY expressions do not name their data, and some losses are sums of two.
    if len(own) == len(result.relative_errors):
        told |= result.relative_errors
        pairs |= dict(zip(result.relative_errors, own.values(), strict=True))
    for name, value in told.items():
        error, size = pairs[name]
        if not size or (np.isnan(value) and case.may_be_unread):
            continue
        relative, floor = (1e-4, 1e-5) if case.single else (1e-7, 1e-11)
        rounding = floor * (1 + case.magnitude(X) / size)
        if not abs(value - error / size) <= relative * error / size + rounding:
            yield Finding("relative error", f"{name}: reported {value:.9g}, is {error / size:.9g}")


def _feasible(case, result, X):
    worst, where = case.violation(X)
    if not worst <= (1e-4 if case.single else 1e-5):
        yield Finding("infeasible", f"{result.status.name}, violation {worst:.3g} of {where}")


def _best_kept(case, result, X):
    """The best feasible iterate is returned, unless the solver says that its last one counts."""
    if not result.promises.keeps_best:
        return
    values, outside = result.history.objective, result.history.violation
    seen = values[(outside <= FEASIBLE) & np.isfinite(values)]
    lost = result.objective - seen.min(initial=np.inf)
    if lost > slack(case, result.objective, X, 1e-6):
        reason = f"{result.status.name} {result.objective:.6g}, seen {seen.min():.6g}"
        yield Finding("best kept", reason)


def _monotone(case, result, X):
    if not (case.method.monotone and result.solver.startswith(case.method.name)):
        return  # another one stood in where the named one does not fit
    values, outside = result.history.objective, result.history.violation
    among = (outside[:-1] <= FEASIBLE) & (outside[1:] <= FEASIBLE)
    with np.errstate(invalid="ignore"):  # out of the domain of a divergence
        rise = float(np.diff(values)[among].max(initial=0.0))
    if rise > slack(case, result.objective, X, 1e-6):
        yield Finding("rise", f"by {rise:.3g} at {result.objective:.6g}")


def judge_seen(case, result, X, seen):
    """Yield what is wrong with iterates that a callback saw: told values, and better ones lost."""
    best = np.inf
    for iteration, own in seen:
        if not all(np.isfinite(values).all() for values in own.values()):
            continue
        yield from _objective(case, iteration.objective, own, "history")
        worst, where = case.violation(own)
        if iteration.violation <= FEASIBLE and not worst <= (1e-4 if case.single else 1e-5):
            yield Finding("history", f"said to be feasible, violation {worst:.3g} of {where}")
        if worst <= FEASIBLE / 10:
            best = min(best, case.objective(own))
    if result.status.kind == "failed" or not result.promises.keeps_best or not seen:
        return
    if result.objective - best > slack(case, result.objective, X, 1e-6):
        reason = f"{result.status.name} {result.objective:.6g}, a callback saw {best:.6g}"
        yield Finding("best kept", reason)


def judge_status(case, result, thrown):
    """Yield statuses that do not belong to how the solve was asked for."""
    name, method = result.status.name, case.method
    if thrown and not method.throw:
        yield Finding("status", f"{name} was raised though throw is off")
    if not thrown and method.throw and result.status.kind == "failed":
        yield Finding("status", f"{name} was not raised though throw is on")
    if name == "CALLBACK" and method.callback not in ("stops", "raises"):
        yield Finding("status", "CALLBACK without a callback that stops")
    if (
        name == "TIME_LIMIT"
        and method.limit in ("none", "long")
        and "TimeLimit(0)" not in method.stop
    ):
        yield Finding("status", "TIME_LIMIT without a limit that could be reached")
    if method.stop.isdigit() and result.n_iter > int(method.stop):
        yield Finding("status", f"{result.n_iter} iterations, the limit was {method.stop}")
    told = result.history.objective
    if len(told) != result.n_iter + 1:
        yield Finding("history", f"{len(told)} lines for {result.n_iter} iterations")
