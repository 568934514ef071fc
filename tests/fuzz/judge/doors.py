"""The same start and solver end alike, whichever way the problem was stated."""

from __future__ import annotations

from .findings import Finding


def doors_agree(case, a, b):
    """Yield a finding where two doors lead to different places."""
    one, two = case.doors
    if a.result is None or b.result is None:
        # What CVXPY states may be known for less than it is, and then no solver fits.
        unread = "IncompatibleError" in (a.end, b.end) and "algebra" in case.doors
        found = (a.result is None) != (b.result is None)
        if case.method.solver == "None" and found and not unread:
            yield Finding("doors", f"{one}: {a.end}, {two}: {b.end}")
        return
    if "failed" in (a.result.status.kind, b.result.status.kind):
        return
    first, second = a.result.objective, b.result.objective
    allowed = 1e-6 * (abs(first) + abs(second) + case.size(case.point))
    if "algebra" in case.doors:  # which reads other numbers from the same statement, by rounding
        if case.many_paths:
            return
        allowed = 0.02 * (abs(first) + abs(second)) + 1e-3 * case.size(case.point)
    if not abs(first - second) <= allowed:
        yield Finding("doors", f"{one} {first:.9g}, {two} {second:.9g}")
