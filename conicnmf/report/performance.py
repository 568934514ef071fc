"""Comparisons of solvers: how often they come close to the best, and how soon."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.figure import Figure

from conicnmf.report.profiles import by_problem
from conicnmf.report.style import legend_below, log_times, new_figure, series, styled
from conicnmf.results import Result
from conicnmf.settings import Weight, checks_arguments
from conicnmf.study.compare import Comparison
from conicnmf.study.compare.curves import best_objective, first_scale, gap, scores_of


@checks_arguments
def plot_performance(
    comparison: Comparison,
    measure: Literal["seconds", "objective"] = "seconds",
    tolerance: Weight = 0.01,
) -> Figure:
    """Draw the fraction of a solver's runs that come within a factor of the best solver.

    Parameters
    ----------
    comparison : Comparison
    measure : {"seconds", "objective"}
        Either the time until the objective is within `tolerance` of the best one for that problem
        and seed, or the final objective.
    tolerance : float
        The target of "seconds", relative to the best objective.

    Returns
    -------
    matplotlib.figure.Figure
        A run that fails, or never reaches the target, lowers its solver's line; a pair that does
        not fit is left out.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_performance
    >>> problem = cn.factorize(np.random.default_rng(0).random((8, 6)), 2)
    >>> plot_performance(cn.compare(problem, [cn.HALS(), cn.Multiplicative()]), "objective")
    <Figure size 560x...>
    """
    by_problem(comparison)
    scores = scores_of(comparison.table, comparison.results, measure, tolerance)
    ratios = _gaps(comparison, scores) if measure == "objective" else _factors(scores)
    label = (
        "time, as a multiple of the fastest solver's"
        if measure == "seconds"
        else "objective above the best of the same seed, relative"
    )
    return _shares(comparison, ratios, label, 1.0 if measure == "seconds" else 1e-4)


@checks_arguments
def plot_data_profile(
    comparison: Comparison,
    against: Literal["seconds", "iterations"] = "seconds",
    tolerance: Weight = 0.01,
) -> Figure:
    """Draw the fraction of a solver's runs that are solved by a given time or iteration.

    Parameters
    ----------
    comparison : Comparison
    against : {"seconds", "iterations"}
        The horizontal axis.
    tolerance : float
        A run is solved when its objective is within this part of the best one for that problem
        and seed.

    Returns
    -------
    matplotlib.figure.Figure
        A run that fails, or never reaches the target, lowers its solver's line; a pair that does
        not fit is left out.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_data_profile
    >>> problem = cn.factorize(np.random.default_rng(0).random((8, 6)), 2)
    >>> plot_data_profile(cn.compare(problem, [cn.HALS(), cn.Multiplicative()]), "iterations")
    <Figure size 560x...>
    """
    by_problem(comparison)
    scores = scores_of(comparison.table, comparison.results, against, tolerance)
    values = {name: list(own.values()) for name, own in scores.items()}
    finite = [x for own in values.values() for x in own if np.isfinite(x)]
    label = f"{against} until within {tolerance:.3g} of the best"
    return _shares(comparison, values, label, 0.9 * min(finite, default=1.0))


def _shares(
    comparison: Comparison, values: dict[str, list[float]], label: str, floor: float
) -> Figure:
    """Draw the share of each solver's values that are at most so large."""
    looks = series(comparison.table["solver"])
    finite = [x for own in values.values() for x in own if np.isfinite(x)]
    right = 1.3 * max([*finite, 3 * floor])
    with styled():
        figure = new_figure(3.3)
        axes = figure.add_subplot()
        for name, own in values.items():
            x = np.sort(np.maximum(own, floor))
            share = np.arange(1, len(x) + 1) / len(x)
            kept = np.isfinite(x)
            steps_x = np.concatenate([[floor], x[kept], [right]])
            steps_y = np.concatenate([[0.0], share[kept], [kept.mean()]])
            axes.plot(steps_x, steps_y, drawstyle="steps-post", label=name, **looks[name])
        axes.set_xlim(floor * 0.95, right)
        log_times(axes)
        axes.set_ylim(0, 1.04)
        axes.set_ylabel("fraction of runs")
        axes.set_xlabel(label)
        legend_below(figure, axes)
    return figure


Scores = dict[str, dict[tuple[str, int], float]]


def _factors(scores: Scores) -> dict[str, list[float]]:
    """Return the scores as multiples of the best solver's on the same problem and seed."""
    units: dict[tuple[str, int], float] = {}
    for own in scores.values():
        units |= {key: min(score, units.get(key, np.inf)) for key, score in own.items()}
    return {
        name: [s / units[key] if np.isfinite(s) else np.inf for key, s in own.items()]
        for name, own in scores.items()
    }


def _gaps(comparison: Comparison, scores: Scores) -> dict[str, list[float]]:
    """Return how far objectives are above the best of the same problem and seed."""
    runs: dict[tuple[str, int], list[Result]] = {}
    for (problem, _, seed), result in comparison.results.items():
        runs.setdefault((problem, seed), []).append(result)
    bests = {key: (best_objective(some), first_scale(some)) for key, some in runs.items()}
    return {
        name: [float(gap(np.array(s), *bests.get(key, (0.0, 1.0)))) for key, s in own.items()]
        for name, own in scores.items()
    }
