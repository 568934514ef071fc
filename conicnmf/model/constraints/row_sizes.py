"""The size of the numbers in constraints that a user wrote, so that tiny ones are not taken for zero.

Solvers and the measure of feasibility work with absolute tolerances. A sum of at most 1e-12 would hold
for anything then. So numbers that are all below a thousandth are measured in their own unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import cvxpy as cp
import numpy as np

from conicnmf.types import Array

SMALL = 2.0**-10
"""Below this the numbers of a constraint have a unit of their own."""
_LOWEST = 1000


def numbers_of(part: cp.Constraint, X: Array) -> float:
    """Return the largest magnitude of what a constraint compares at X, or of X itself.

    Differences of entries may cancel, and are then no smaller than what they are taken of.

    Examples
    --------
    >>> X = cp.Variable(2, value=np.array([0.5, 1.0]))
    >>> numbers_of(cp.sum(X) <= 4.0, X.value), numbers_of(X[0] == X[1] / 2, X.value)
    (4.0, 1.0)
    """
    with np.errstate(all="ignore"):
        values = [np.abs(arg.value).max(initial=0.0) for arg in part.args if arg.value is not None]
    largest = (float(value) for value in (*values, np.abs(X).max(initial=0.0)))
    return max((value for value in largest if np.isfinite(value)), default=0.0)


def enlarged(part: cp.Constraint, size: float) -> cp.Constraint:
    """Return a constraint with both sides times a power of two, so that small numbers are about one.

    Examples
    --------
    >>> X = cp.Variable(2)
    >>> float(enlarged(cp.sum(X) <= 2.0**-40, 2.0**-40).args[1].value)
    1.0
    """
    if not 0 < size < SMALL:
        return part
    factor = math.ldexp(1.0, 1 - math.frexp(size)[1])
    # Every set of CVXPY's constraints is a cone; the last of its data counts the constraints.
    data = list(part.get_data() or [])[:-1]
    return type(part)(*(factor * arg for arg in part.args), *data)


def strictness(part: cp.Constraint, X: Array) -> float:
    """Return what violations at X are multiplied by: more than one where all numbers are small.

    Examples
    --------
    >>> X = cp.Variable(2, value=np.array([0.0, 2.0**-30]))
    >>> strictness(cp.sum(X) <= 0, X.value), strictness(cp.sum(X) <= 1, X.value)
    (1048576.0, 1.0)
    """
    if np.abs(X).max(initial=0.0) >= SMALL:
        return 1.0
    size = numbers_of(part, X)
    return SMALL / size if 0 < size < SMALL else 1.0


def size_it_is_about(
    at: Callable[[Array], Sequence[cp.Constraint]], shape: tuple[int, int]
) -> float:
    """Return the size of a factor at which its terms are as large as the constants in them.

    One where there are no constants, or they are no smaller than a thousandth. It is found to a
    power of two by bisection, as terms grow with the factor.

    Examples
    --------
    >>> X = cp.Variable((2, 2))
    >>> parts = [cp.sum_squares(X) <= 2.0**-80]
    >>> def at(value):
    ...     X.value = value
    ...     return parts
    >>> size_it_is_about(at, (2, 2)) == 2.0**-41
    True
    """
    nothing = np.zeros(shape)
    constants = max((numbers_of(part, nothing) for part in at(nothing)), default=0.0)
    if not 0 < constants < SMALL:
        return 1.0
    different = np.linspace(0.5, 1.0, nothing.size).reshape(shape)
    low, high = 0, _LOWEST
    while high - low > 1:
        middle = (low + high) // 2
        X = math.ldexp(1.0, -middle) * different
        numbers = max(numbers_of(part, nothing) for part in at(X))
        low, high = (low, middle) if numbers <= 2 * constants else (middle, high)
    return math.ldexp(1.0, -high)
