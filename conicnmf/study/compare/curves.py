"""Numbers behind figures and tests: gaps to the best objective, and what a run had reached by when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.results import Result
from conicnmf.study.compare.rows import Task
from conicnmf.types import Array

if TYPE_CHECKING:
    import pandas as pd

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


def scores_of(
    table: pd.DataFrame, results: Mapping[Task, Result], measure: str, tolerance: float
) -> dict[str, dict[tuple[str, int], float]]:
    """Return what each solver reached on each problem and seed; inf where it failed.

    The measure is the final objective, or the seconds or iterations until the objective is within
    the tolerance of the best one for that problem and seed. Pairs that do not fit and runs that
    were not made are left out.
    """
    run = table[~table["status"].isin(("SKIPPED", "NOT_RUN"))]
    scores: dict[str, dict[tuple[str, int], float]] = {name: {} for name in run["solver"].unique()}
    groups: Any = run.groupby(["problem", "seed"], sort=False)
    for (problem, seed), rows in groups:
        runs = {name: results.get((problem, name, seed)) for name in rows["solver"]}
        target = target_of([run for run in runs.values() if run is not None], tolerance)
        for name, made in runs.items():
            scores[name][problem, seed] = _score(made, measure, target)
    return scores


def target_of(results: Sequence[Result], tolerance: float) -> float:
    """Return the objective that counts as solved: the best of these runs, and a little."""
    best = best_objective(results)
    return best + tolerance * (abs(best) or first_scale(results))


def _score(run: Result | None, measure: str, target: float) -> float:
    if run is None or run.status.kind == "failed":
        return np.inf
    if measure == "objective":
        return run.objective
    reached = np.flatnonzero(best_so_far(run) <= target)
    if not reached.size:
        return np.inf
    line = run.history[int(reached[0])]
    return max(line.seconds, 1e-6) if measure == "seconds" else max(float(line.iteration), 1.0)
