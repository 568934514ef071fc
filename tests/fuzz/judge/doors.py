"""The same start and solver end alike, whichever way the problem was stated."""

from __future__ import annotations

from .findings import Finding


def doors_agree(case, a, b):
    """Yield a finding where two doors lead to different places."""
    one, two = case.doors
    if a.result is None or b.result is None:
        if case.method.solver == "None" and (a.result is None) != (b.result is None):
            yield Finding("doors", f"{one}: {a.end}, {two}: {b.end}")
        return
    if "failed" in (a.result.status.kind, b.result.status.kind) or _many_paths(case):
        return
    if "algebra" not in case.doors:
        values = a.result.objective, b.result.objective
        if not _close(*values, 1e-6 * case.size(case.point)):
            yield Finding("doors", f"{one} {values[0]:.9g}, {two} {values[1]:.9g}")
        return
    allowed = 0.02 * (abs(a.result.objective) + abs(b.result.objective))
    allowed += 1e-3 * sum(size for _, size in case.errors(case.point).values())
    if abs(a.result.objective - b.result.objective) > allowed:
        yield Finding("doors", f"{one} {a.result.objective:.6g}, {two} {b.result.objective:.6g}")


def _close(a, b, floor):
    return abs(a - b) <= 1e-6 * (abs(a) + abs(b)) + floor


def _many_paths(case):
    """Whether two statements of one problem may lead elsewhere.

    The algebra makes one bound of two on the same thing, and may know a `Convex` for what it is,
    a ball say, which another solver takes; its variables may come in another order; and where
    there are as many components as rows or columns, a block has more than one minimum.
    """
    if "algebra" not in case.doors:
        return False
    kinds = [[t.kind for t in terms] for terms in case.terms.values()]
    merged = any(len(set(names)) < len(names) or "Convex" in names for names in kinds)
    rank = case.shape.rank
    wide = not isinstance(rank, int) or any(rank >= min(m.shape) for m in case.shape.models)
    return merged or wide or not case.shape.is_two or case.method.start != "None"
