"""Numbers behind the figures: gaps to the best objective, and what a run had reached by when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conicnmf._types import Array
from conicnmf.result import Result

FEASIBLE = 1e-6
"""An iterate counts as reached when no constraint is violated by more than this."""

LOWEST_GAP = 1e-6
"""Where the gap axis ends: differences below it are not worth a picture."""


def best_objective(results: Sequence[Result]) -> float:
    """Return the lowest objective of the results that did not fail, of all if all failed."""
    fine = [result.objective for result in results if result.status.kind != "failed"]
    values = np.array(fine or [result.objective for result in results])
    finite = values[np.isfinite(values)]
    return float(finite.min()) if finite.size else 0.0


def gap(values: Array, best: float, scale: float) -> Array:
    """Return how far values are above the best, relative to it, cut off at `LOWEST_GAP`.

    Examples
    --------
    >>> gap(np.array([3.0, 2.0]), best=2.0, scale=3.0)
    array([5.e-01, 1.e-06])
    """
    # An exact fit has best = 0: then the size of the start is the unit.
    unit = abs(best) if abs(best) > LOWEST_GAP * scale else scale
    return np.asarray(np.maximum((values - best) / (unit or 1.0), LOWEST_GAP))


def first_scale(results: Sequence[Result]) -> float:
    """Return the largest magnitude of an objective at the start of a run."""
    starts = [abs(result.history[0].objective) for result in results]
    return float(np.max([s for s in starts if np.isfinite(s)], initial=0.0))


def best_so_far(result: Result) -> Array:
    """Return the lowest objective of a feasible iterate up to each iteration; inf before one."""
    objective, violation = result.history.objective, result.history.violation
    reached = np.isfinite(objective) & (violation <= FEASIBLE)
    return np.asarray(np.minimum.accumulate(np.where(reached, objective, np.inf)))


def at_times(result: Result, times: Array) -> Array:
    """Return the best objective a run had at each time; inf before its first iterate."""
    seconds, values = result.history.seconds, best_so_far(result)
    index = np.searchsorted(seconds, times, side="right") - 1
    return np.where(index < 0, np.inf, values[np.maximum(index, 0)])


def time_to(result: Result, target: float) -> float:
    """Return when a run first reached the target; inf if it never did."""
    reached = np.flatnonzero(best_so_far(result) <= target)
    return float(result.history.seconds[reached[0]]) if reached.size else np.inf
