"""What a result should say, by the case's own measures; each difference is a finding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import measures

FEASIBLE = 1e-6
"""The package calls an iterate feasible up to this violation."""


class Finding(NamedTuple):
    """Something wrong: its kind, and a line about it."""

    kind: str
    reason: str


def judge(case, result):
    """Yield what is wrong with a result."""
    W, H = (np.asarray(result.factors[f], dtype=np.float64) for f in "WH")
    m, n = case.data.dense.shape
    if W.shape != (m, case.rank) or H.shape != (case.rank, n):
        yield Finding("shape", f"W {W.shape}, H {H.shape}")
        return
    if not (np.isfinite(W).all() and np.isfinite(H).all()):
        if result.status.kind != "failed":
            yield Finding("not finite", f"{result.status.name} with entries that are not finite")
        return
    yield from _objective(case, result, W, H)
    yield from _relative_error(case, result, W, H)
    yield from _feasible(case, result, W, H)
    yield from _best_kept(case, result, W, H)
    yield from _monotone(case, result, W, H)


def objective(case, W, H):
    """Return the case's objective."""
    own = sum(t.value(X) for X, f in ((W, "W"), (H, "H")) for t in case.terms[f] if t.value)
    return case.loss.value(W, H) + own


def violation(case, W, H):
    """Return the largest violation and the constraint it belongs to."""
    worst = [
        (float(t.violation(X)), f"{f}: {t.text}")
        for X, f in ((W, "W"), (H, "H"))
        for t in case.terms[f]
        if t.violation
    ]
    if np.isfinite(case.loss.cap):
        worst.append((case.loss.value(W, H) / case.loss.cap - 1, "the loss's cap"))
    return max(worst, default=(0.0, ""))


def _size(case, W, H):
    """Return the size of the numbers that are subtracted from each other in the objective."""
    M = 1.0 if case.loss.weights is None else case.loss.weights
    squares = float(((M * case.data.dense) ** 2).sum() + ((M * (np.abs(W) @ np.abs(H))) ** 2).sum())
    own = sum(abs(t.value(X)) for X, f in ((W, "W"), (H, "H")) for t in case.terms[f] if t.value)
    return squares + own


def _objective(case, result, W, H):
    own = objective(case, W, H)
    relative, floor = (1e-4, 1e-5) if case.data.single else (1e-7, 1e-12)
    if not abs(own - result.objective) <= relative * abs(own) + floor * _size(case, W, H):
        yield Finding("objective", f"reported {result.objective:.9g}, is {own:.9g}")


def _relative_error(case, result, W, H):
    V, M = case.data.dense, case.loss.weights
    whole = float(((V if M is None else M * V) ** 2).sum())
    if not whole:
        return
    own = measures.squares(V, W, H, M) / whole
    relative, floor = (1e-4, 1e-5) if case.data.single else (1e-7, 1e-12)
    slack = relative * own + floor * (1 + _size(case, W, H) / whole)
    if not abs(own - result.relative_error) <= slack:
        yield Finding("relative error", f"reported {result.relative_error:.9g}, is {own:.9g}")


def _feasible(case, result, W, H):
    worst, where = violation(case, W, H)
    allowed = 1e-4 if case.data.single else 1e-5
    if result.status.kind != "failed" and not worst <= allowed:
        yield Finding("infeasible", f"{result.status.name}, violation {worst:.3g} of {where}")


def _best_kept(case, result, W, H):
    """The best feasible iterate is returned; a coded dictionary has no objective to judge by."""
    if result.status.kind == "failed" or "Coded" in case.method.solver:
        return
    values, outside = result.history.objective, result.history.violation
    seen = values[(outside <= FEASIBLE) & np.isfinite(values)]
    allowed = 1e-5 if case.data.single else 1e-6
    floor = (1e-6 if case.data.single else 1e-12) * _size(case, W, H)
    lost = result.objective - seen.min(initial=np.inf)
    if lost > allowed * abs(result.objective) + floor:
        reason = f"{result.status.name} {result.objective:.6g}, seen {seen.min():.6g}"
        yield Finding("best kept", reason)


def _monotone(case, result, W, H):
    if not case.method.monotone:
        return
    values, outside = result.history.objective, result.history.violation
    among = (outside[:-1] <= FEASIBLE) & (outside[1:] <= FEASIBLE)
    rise = float(np.diff(values)[among].max(initial=0.0))
    allowed = 1e-5 if case.data.single else 1e-6
    floor = (1e-6 if case.data.single else 1e-12) * _size(case, W, H)
    if rise > allowed * abs(result.objective) + floor:
        yield Finding("rise", f"by {rise:.3g} at {result.objective:.6g}")
