"""The same problem in other units has the same answer, in these units."""

from __future__ import annotations

import numpy as np

from .attempt import attempt
from .findings import Finding

UNSCALED = ("Convex", "ReverseConvex", "MinimumVolume")
"""Terms with units of their own: a violation in those of its statement, a logarithm that is shifted."""


def same_in_other_units(case, door, result):
    """Yield a finding where data 2^24 times as large, or as small, lead elsewhere."""
    twin, factor = twin_of(case)
    if twin is None:
        return
    ratio = factor**2  # every loss with a twin is a square
    other = attempt(twin, door)
    if other.result is None:
        yield Finding("scale", f"{result.status.name}, times {ratio:.3g} {other.end}")
        return
    if "failed" in (result.status.kind, other.result.status.kind):
        return  # which is said, and how far it came before is not promised
    a, b = result.objective, other.result.objective / ratio
    allowed = (1e-3 if case.single else 1e-6) * (abs(a) + abs(b)) + 1e-9 * case.size(case.point)
    if not abs(a - b) <= allowed:
        ends = f"{result.status.name} {a:.9g}, times {ratio:.3g} {other.end} {b:.9g}"
        yield Finding("scale", ends)


def twin_of(case):
    """Return the case in other units and the factor of its data, nothing where it has none."""
    from ..cases import draw_case  # which draws what is judged here

    if not hasattr(case, "losses"):
        return None, 0  # problems with one factor have no data to multiply
    if any(t.kind in UNSCALED for terms in case.terms.values() for t in terms):
        return None, 0
    if any(loss.term is None or loss.degree != 2 for loss in case.losses.values()) or case.single:
        return None, 0
    seed, k = map(int, case.id.split(":"))
    twin = draw_case(seed, k, shift=4 if k % 2 else -4)
    if getattr(twin, "shapes", None) != case.shapes:
        return None, 0  # the case was not drawn
    pairs = zip(case.data.values(), twin.data.values(), strict=True)
    factors = {_power(one.dense, two.dense) for one, two in pairs if one.dense.any()}
    (factor,) = factors if len(factors) == 1 else (0,)
    return (twin, factor) if factor not in (0, 1) else (None, 0)


def _power(A, B):
    """Return the power of two between two arrays, 0 where there is none."""
    place = np.unravel_index(np.abs(A).argmax(), A.shape)
    factor = B[place] / A[place]
    power_of_two = abs(np.frexp(factor)[0]) == 0.5  # not where one of them was rounded to be stored
    return factor if power_of_two and np.array_equal(factor * A, B) else 0
