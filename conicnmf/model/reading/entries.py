"""Bounds on single entries, from attributes and constraints, and the fewest terms that say them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from conicnmf.errors import InfeasibleError, ModelError
from conicnmf.model.constraints import Box, Fixed, NonNegative
from conicnmf.model.reading.linear_rows import Lowered
from conicnmf.model.terms import Constraint
from conicnmf.types import Array, Mask

_ROUNDING = 1e-12


def attribute_bounds(variable: cp.Variable) -> tuple[Array, Array]:
    """Return (lower, upper) as the variable's own attributes state them."""
    lower = np.full(variable.shape, -np.inf)
    upper = np.full(variable.shape, np.inf)
    given = variable.attributes.get("bounds")
    if given is not None:
        if any(isinstance(bound, cp.Expression) for bound in given):
            raise ModelError(
                f"the bounds of factor {variable} must be numbers, got CVXPY expressions; "
                "put their values in"
            )
        lower = np.maximum(lower, given[0])
        upper = np.minimum(upper, given[1])
    if variable.is_nonneg():
        lower = np.maximum(lower, 0.0)
    if variable.is_nonpos():
        upper = np.minimum(upper, 0.0)
    return lower, upper


def tighten(rows: Lowered, lower: Array, upper: Array) -> None:
    """Narrow the bounds, in place, by rows with one entry each."""
    entry = np.unravel_index(rows.A.indices, lower.shape, order="F")
    bound = rows.b / rows.A.data + 0.0  # no negative zeros
    above = rows.equal | (rows.A.data > 0)
    below = rows.equal | (rows.A.data < 0)
    np.minimum.at(upper, tuple(axis[above] for axis in entry), bound[above])
    np.maximum.at(lower, tuple(axis[below] for axis in entry), bound[below])


def settle(lower: Array, upper: Array, name: str) -> tuple[Array, Array]:
    """Return the bounds with rounding between equal ones taken out; raise when they contradict."""
    finite = np.concatenate([bound[np.isfinite(bound)] for bound in (lower, upper)])
    slack = _ROUNDING * np.abs(finite).max(initial=0.0)
    clash = (lower > upper + slack) | (lower == np.inf) | (upper == -np.inf)
    if clash.any():
        row, column = np.argwhere(clash)[0]
        raise InfeasibleError(
            f"the constraints on {name} contradict each other: entry ({row}, {column}) must be "
            f"at least {lower[row, column]:g} and at most {upper[row, column]:g}; relax one of them"
        )
    crossed = lower > upper
    # A zero bound is meant as it is; of two others that differ by rounding either will do.
    shared = np.where((lower == 0) | (upper == 0), 0.0, lower)
    return np.where(crossed, shared, lower), np.where(crossed, shared, upper)


def entry_terms(lower: Array, upper: Array) -> list[Constraint]:
    """Return non-negativity, box and fixed entries as the fewest terms.

    Examples
    --------
    >>> import numpy as np
    >>> entry_terms(np.zeros((2, 2)), np.array([[1.0, 1.0], [1.0, 0.0]]))
    [Fixed(1 of 4 entries), Box(0, 1)]
    """
    terms: list[Constraint] = []
    fixed = lower == upper
    if fixed.any():
        terms.append(Fixed(fixed, np.where(fixed, lower, 0.0)))
        lower, upper = _as_the_rest(lower, fixed, 1), _as_the_rest(upper, fixed, -1)
    if (lower == 0).all() and (upper == np.inf).all():
        terms.append(NonNegative())
    elif np.isfinite(lower).any() or np.isfinite(upper).any():
        terms.append(Box(_shared(lower), _shared(upper)))
    return terms


def _as_the_rest(bound: Array, fixed: Mask, side: int) -> Array:
    """Give fixed entries the bound that all others share, or none if their values break it."""
    others = bound[~fixed]
    shared = others[0] if others.size and (others == others[0]).all() else -side * np.inf
    kept = (side * bound[fixed] >= side * shared).all()
    return np.where(fixed, shared if kept else -side * np.inf, bound)


def _shared(bound: Array) -> Array | float:
    first = bound.flat[0]
    return float(first) if (bound == first).all() else bound
