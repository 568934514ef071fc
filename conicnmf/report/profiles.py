"""Comparisons of solvers: what they reach by when."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from conicnmf.errors import InputError
from conicnmf.report.convergence import log_gaps
from conicnmf.report.style import Look, legend_below, log_times, new_figure, series, styled
from conicnmf.results import Result
from conicnmf.settings import checks_arguments
from conicnmf.study.compare import Comparison
from conicnmf.study.compare.curves import at_times, best_objective, first_scale, gap
from conicnmf.types import Array

_POINTS = 120


@checks_arguments
def plot_profile(comparison: Comparison) -> Figure:
    """Draw the best objective that each solver had at each time, one panel a problem.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    matplotlib.figure.Figure
        Lines are medians over the seeds, bands reach from the best seed to the worst. Time is on
        a log scale, the objective relative to the best of all runs; iterates that violate a
        constraint do not count.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_profile
    >>> problem = cn.factorize(np.random.default_rng(0).random((8, 6)), 2)
    >>> plot_profile(cn.compare(problem, [cn.HALS(), cn.Multiplicative()]))
    <Figure size 560x...>
    """
    problems = by_problem(comparison)
    looks = series(comparison.table["solver"])
    with styled():
        figure = new_figure(0.7 + 2.9 * len(problems))
        panels = figure.subplots(len(problems), 1, squeeze=False)[:, 0]
        for axes, (label, solvers) in zip(panels, problems.items(), strict=True):
            _profile(axes, solvers, looks)
            if len(problems) > 1:
                axes.set_title(label)
        panels[-1].set_xlabel("seconds")
        legend_below(figure, _fullest(panels))
    return figure


def by_problem(comparison: Comparison) -> dict[str, dict[str, list[Result]]]:
    """Return the results by problem and solver, in the order of the table."""
    found: dict[str, dict[str, list[Result]]] = {}
    for (problem, solver, _), result in comparison.results.items():
        found.setdefault(problem, {}).setdefault(solver, []).append(result)
    if not found:
        raise InputError("a profile needs at least one run with a result; look at .table")
    return found


def _fullest(panels: Array) -> Axes:
    axes: Axes = max(panels, key=lambda axes: len(axes.get_legend_handles_labels()[0]))
    return axes


def _profile(axes: Axes, solvers: dict[str, list[Result]], looks: dict[str, Look]) -> None:
    results = [result for runs in solvers.values() for result in runs]
    best, scale = best_objective(results), first_scale(results)
    ends = [result.seconds for result in results]
    begins = [_first_step(result) for result in results]
    times = np.geomspace(min(begins), max(*ends, 2 * min(begins)), _POINTS)
    for name, runs in solvers.items():
        end = max(run.seconds for run in runs)
        own = np.append(times[times < end], end)  # the end itself, where the best is reached
        curves = gap(np.array([at_times(run, own) for run in runs]), best, scale)
        shown = np.isfinite(curves).all(axis=0)
        middle, own = np.median(curves[:, shown], axis=0), own[shown]
        axes.plot(own, middle, label=name, drawstyle="steps-post", **looks[name])
        color = looks[name]["color"]
        axes.plot(own[-1:], middle[-1:], "o", markersize=4, color=color)
        low, high = curves[:, shown].min(axis=0), curves[:, shown].max(axis=0)
        axes.fill_between(
            own, low, high, step="post", color=color, alpha=0.18, linewidth=0, zorder=1.5
        )
    log_times(axes)
    log_gaps(axes)


def _first_step(result: Result) -> float:
    """Return when the first iteration ended, as a positive number for the log axis."""
    seconds = result.history.seconds
    return max(float(seconds[min(1, len(seconds) - 1)]), 1e-6)
