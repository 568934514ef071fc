"""The objective of runs over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from conicnmf.errors import InputError
from conicnmf.report.style import Look, legend_below, log_times, new_figure, series, styled
from conicnmf.results import Result
from conicnmf.settings import checks_arguments, is_mapping, listed, shown
from conicnmf.study.compare.curves import FEASIBLE, LOWEST_GAP, best_objective, first_scale, gap
from conicnmf.types import Array

GAP_LABEL = "objective above the best, relative"


@checks_arguments
def plot_convergence(
    results: Result | Iterable[Result] | Mapping[Any, Result],
    against: Literal["seconds", "iterations"] = "seconds",
) -> Figure:
    """Draw how far the objective of each run is above the best one seen, on a log scale.

    Parameters
    ----------
    results : Result, or list or dict of Result
        Runs with the same name share a color. The names are those of the solvers, or the keys of
        a dict; of the keys (problem, solver, seed) of a comparison the seed is left out.
    against : {"seconds", "iterations"}
        The horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
        A second panel has the violations, when there are any. Dots mark the ends of the runs.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_convergence
    >>> problem = cn.factorize(np.random.default_rng(0).random((8, 6)), 2)
    >>> plot_convergence([problem.solve(cn.HALS()), problem.solve(cn.Multiplicative())])
    <Figure size 560x...>
    """
    runs = _named(results)
    all_runs = [result for _, result in runs]
    violated = any((result.history.violation > FEASIBLE).any() for result in all_runs)
    looks = series(name for name, _ in runs)
    with styled():
        figure = new_figure(4.4 if violated else 3.4)
        ratios = [3, 1] if violated else [1]
        panels = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios)
        top = panels[0, 0]
        best, scale = best_objective(all_runs), first_scale(all_runs)
        for name, result in runs:
            x = _axis(result, against)
            _line(top, x, gap(result.history.objective, best, scale), name, looks[name], len(runs))
        log_gaps(top)
        _time_axis(top, all_runs, against)
        if violated:
            _violations(panels[1, 0], runs, looks, against)
        panels[-1, 0].set_xlabel("seconds" if against == "seconds" else "iteration")
        legend_below(figure, top)
    return figure


def log_gaps(axes: Axes) -> None:
    """Set up a log axis of gaps that ends where differences stop to matter."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, LOWEST_GAP / 2), max(high, 10 * LOWEST_GAP))
    axes.set_ylabel(GAP_LABEL)


def _named(results: Result | Iterable[Result] | Mapping[Any, Result]) -> list[tuple[str, Result]]:
    keys = list(results) if is_mapping(results) else None
    given = results.values() if is_mapping(results) else results
    found = [given] if isinstance(given, Result) else listed(given)
    if not found or not all(isinstance(result, Result) for result in found):
        raise InputError(
            f"plot_convergence needs results, got {shown(results)}; give a Result, or a list of them"
        )
    names = map(solver_name, found) if keys is None else _key_names(keys)
    return list(zip(names, found, strict=True))


def solver_name(result: Result) -> str:
    """Return a solver's name without its settings."""
    return result.solver_text.partition("(")[0]


def _key_names(keys: list[Any]) -> list[str]:
    """Return the keys as text; of (problem, solver, seed) the solver, and the problem if it varies."""
    if not all(isinstance(key, tuple) and len(key) == 3 for key in keys):
        return [str(key) for key in keys]
    if len({problem for problem, _, _ in keys}) == 1:
        return [str(solver) for _, solver, _ in keys]
    return [f"{problem}, {solver}" for problem, solver, _ in keys]


def _axis(result: Result, against: str) -> Array:
    if against == "seconds":
        return result.history.seconds
    return np.array([it.iteration for it in result.history.iterations], dtype=float)


def _time_axis(axes: Axes, runs: list[Result], against: str) -> None:
    """Make the time axis logarithmic where runs of very different length would crowd at zero."""
    ends = [run.seconds for run in runs]
    if against == "seconds" and max(ends) > 10 * min(ends):
        axes.set_xlim(max(min(ends) / 30, 1e-5), 1.2 * max(ends))
        log_times(axes)


def _line(axes: Axes, x: Array, y: Array, name: str, look: Look, runs: int) -> None:
    # Many runs become a haze from which the ends stand out.
    axes.plot(x, y, label=name, alpha=0.9 if runs <= 8 else 0.45, **look)
    axes.plot(x[-1:], y[-1:], "o", markersize=4, color=look["color"])


def _violations(
    axes: Axes, runs: list[tuple[str, Result]], looks: dict[str, Look], against: str
) -> None:
    for name, result in runs:
        shown = np.maximum(result.history.violation, FEASIBLE)
        axes.plot(_axis(result, against), shown, linewidth=1, alpha=0.8, **looks[name])
    axes.set_yscale("log")
    axes.set_ylabel("violation")
