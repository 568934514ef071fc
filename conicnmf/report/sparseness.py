"""How sparse the factors came out."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from conicnmf._types import Array
from conicnmf.kernels.hoyer import hoyer_sparseness
from conicnmf.report.style import INK, new_figure, series, styled
from conicnmf.result import Result


def plot_sparseness(result: Result) -> Figure:
    """Draw histograms of the Hoyer sparseness of the pieces of both factors.

    Parameters
    ----------
    result : Result

    Returns
    -------
    matplotlib.figure.Figure
        One panel each for the columns of W, the rows of H and the samples, the columns of H. The
        upright line is the median; zero pieces have no sparseness and are counted in the title.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_sparseness
    >>> plot_sparseness(cn.factorize(np.eye(4), 2).solve())
    <Figure size 560x...>
    """
    panels = sparseness_panels(result)
    looks = list(series(panels).values())
    with styled():
        figure = new_figure(2.5)
        grid = figure.subplots(1, len(panels), sharex=True, squeeze=False)[0]
        for axes, look, (title, values) in zip(grid, looks, panels.items(), strict=True):
            _histogram(axes, values, title, look["color"])
        grid[0].set_ylabel("count")
    return figure


def sparseness_panels(result: Result) -> dict[str, Array]:
    """Return the sparseness of every kind of piece that a result has."""
    panels: dict[str, Array] = {}
    if "W" in result.factors:
        panels["columns of W"] = hoyer_sparseness(np.ascontiguousarray(result.W.T))
    if "H" in result.factors:
        panels["rows of H"] = hoyer_sparseness(np.ascontiguousarray(result.H))
        panels["columns of H"] = hoyer_sparseness(np.ascontiguousarray(result.H.T))
    return panels


def _histogram(axes: Axes, values: Array, title: str, color: str) -> None:
    known = values[~np.isnan(values)]
    zero = values.size - known.size
    axes.hist(known, bins=list(np.linspace(0, 1, 26)), color=color, alpha=0.85)
    if known.size:
        axes.axvline(float(np.median(known)), color=INK, linewidth=1)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.grid(False, axis="x")
    axes.set_title(title + (f", {zero} zero" if zero else ""))
    axes.set_xlabel("sparseness")
