"""Comparisons of solvers: what they reach by when, and how often they come close to the best."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from conicnmf._types import Array
from conicnmf.compare import Comparison
from conicnmf.errors import InputError
from conicnmf.report._curves import at_times, best_objective, first_scale, gap, time_to
from conicnmf.report.convergence import log_gaps
from conicnmf.report.style import Look, legend_below, new_figure, series, styled
from conicnmf.result import Result

_POINTS = 120


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
    axes.set_xscale("log")
    log_gaps(axes)


def _first_step(result: Result) -> float:
    """Return when the first iteration ended, as a positive number for the log axis."""
    seconds = result.history.seconds
    return max(float(seconds[min(1, len(seconds) - 1)]), 1e-6)


def plot_performance(
    comparison: Comparison,
    measure: Literal["seconds", "objective"] = "seconds",
    tolerance: float = 0.01,
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
    if measure not in ("seconds", "objective"):
        raise InputError(f'measure must be "seconds" or "objective", got {measure!r}')
    if not tolerance >= 0:
        raise InputError(f"tolerance must be at least 0, got {tolerance}; 0.01 is one per cent")
    ratios = _ratios(comparison, measure, tolerance)
    looks = series(comparison.table["solver"])
    floor = 1.0 if measure == "seconds" else 1e-4
    finite = [r for values in ratios.values() for r in values if np.isfinite(r)]
    right = 1.3 * max([*finite, 3 * floor])
    with styled():
        figure = new_figure(3.3)
        axes = figure.add_subplot()
        for name, values in ratios.items():
            x = np.sort(np.maximum(values, floor))
            share = np.arange(1, len(x) + 1) / len(x)
            kept = np.isfinite(x)
            steps_x = np.concatenate([[floor], x[kept], [right]])
            steps_y = np.concatenate([[0.0], share[kept], [kept.mean()]])
            axes.plot(steps_x, steps_y, drawstyle="steps-post", label=name, **looks[name])
        axes.set_xscale("log")
        axes.set_xlim(floor * 0.95, right)
        axes.set_ylim(0, 1.04)
        axes.set_ylabel("fraction of runs")
        axes.set_xlabel(
            f"times the time of the fastest solver to come within {tolerance:.3g} of the best objective"
            if measure == "seconds"
            else "objective above the best of the same seed, relative"
        )
        legend_below(figure, axes)
    return figure


def _ratios(comparison: Comparison, measure: str, tolerance: float) -> dict[str, list[float]]:
    """Return for each solver the ratio (or gap) to the best of every run that fits."""
    by_problem(comparison)
    table = comparison.table[comparison.table["status"] != "SKIPPED"]
    ratios: dict[str, list[float]] = {name: [] for name in dict.fromkeys(table["solver"])}
    groups: Any = table.groupby(["problem", "seed"], sort=False)
    for (problem, seed), rows in groups:
        runs = {name: comparison.results.get((problem, name, seed)) for name in rows["solver"]}
        usable = [run for run in runs.values() if run is not None]
        if not usable:
            continue
        best, scale = best_objective(usable), first_scale(usable)
        target = best + tolerance * (abs(best) or scale)
        scores = {name: _score(run, measure, target) for name, run in runs.items()}
        if measure == "objective":
            scores = {name: float(gap(np.array(s), best, scale)) for name, s in scores.items()}
        unit = min(scores.values()) if measure == "seconds" else 1.0
        for name, score in scores.items():
            ratios[name].append(score / unit if np.isfinite(score) else np.inf)
    return ratios


def _score(run: Result | None, measure: str, target: float) -> float:
    if run is None or run.status.kind == "failed":
        return np.inf
    return max(time_to(run, target), 1e-6) if measure == "seconds" else run.objective
