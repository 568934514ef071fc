"""The same problem in other units has the same answer, in these units."""

from __future__ import annotations

import numpy as np

from .attempt import attempt
from .findings import Finding

UNSCALED = ("Convex", "ReverseConvex", "MinimumVolume")
"""Terms with units of their own: a violation in those of its statement, a logarithm that is shifted."""


def same_in_other_units(case, door, result):
    """Yield a finding where data 2^24 times as large, or as small, lead elsewhere."""
    twin, ratio = twin_of(case)
    if twin is None:
        return
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
    """Return the case in other units and the factor of its objective, nothing where it has none."""
    from ..cases import draw_case  # which draws what is judged here

    if case.single or not (hasattr(case, "matrix") or _with_a_power(case)):
        return None, 0
    seed, k = map(int, case.id.split(":"))
    twin = draw_case(seed, k, shift=4 if k % 2 else -4)
    if getattr(twin, "shapes", None) != case.shapes:
        return None, 0  # the case was not drawn
    (data, degree), (others, _) = _numbers(case), _numbers(twin)
    pairs = zip(data, others, strict=True)
    factors = {_power(one, two) for one, two in pairs if one.any()}
    (factor,) = factors if len(factors) == 1 else (0,)
    return (twin, factor**degree) if factor not in (0, 1) else (None, 0)


def _with_a_power(case):
    """Whether the objective of a case with losses grows with one power of its data."""
    if not hasattr(case, "losses"):
        return False
    if any(t.kind in UNSCALED for terms in case.terms.values() for t in terms):
        return False
    degrees = {loss.degree for loss in case.losses.values()}
    # Prices are drawn in units of squares.
    priced = any(t.value for terms in case.terms.values() for t in terms)
    return degrees == {2} or (degrees == {1} and not priced)


def _numbers(case):
    """Return what a case holds of data, and the power of them that its objective grows with."""
    if hasattr(case, "losses"):
        (degree,) = {loss.degree for loss in case.losses.values()}
        return [data.dense for data in case.data.values()], degree
    # The factor of a gain stays as long as it is: an operator alone is multiplied.
    return ([case.matrix.dense], 1) if case.fit is None else ([case.fit.dense], 2)


def _power(A, B):
    """Return the power of two between two arrays, 0 where there is none."""
    place = np.unravel_index(np.abs(A).argmax(), A.shape)
    factor = B[place] / A[place]
    power_of_two = abs(np.frexp(factor)[0]) == 0.5  # not where one of them was rounded to be stored
    return factor if power_of_two and np.array_equal(factor * A, B) else 0
