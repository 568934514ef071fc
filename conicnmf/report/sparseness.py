"""How sparse the factors came out."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from conicnmf.errors import InputError
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.report.components import pieces_of
from conicnmf.report.style import INK, new_figure, series, styled
from conicnmf.results import Result
from conicnmf.settings import checks_arguments
from conicnmf.types import Array


@checks_arguments
def plot_sparseness(result: Result) -> Figure:
    """Draw histograms of the Hoyer sparseness of the pieces of the factors.

    Parameters
    ----------
    result : Result

    Returns
    -------
    matplotlib.figure.Figure
        One panel each for the columns of W, the rows of H and the samples, the columns of H, or
        for the components of whatever variables the result has. The upright line is the median;
        zero pieces have no sparseness and are counted in the title.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_sparseness
    >>> plot_sparseness(cn.factorize(np.eye(4), 2).solve())
    <Figure size 560x...>
    """
    panels = {name: hoyer_sparseness(X) for name, X in pieces_of(result).items()}
    if not panels:
        raise InputError("sparseness is measured of matrices, and this result has none")
    looks = list(series(panels).values())
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    with styled():
        figure = new_figure(2.5 * down)
        grid = figure.subplots(down, across, sharex=True, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, look, (title, values) in zip(grid.flat, looks, panels.items(), strict=False):
            _histogram(axes, values, title, look["color"])
        for row in grid:
            row[0].set_ylabel("count")
    return figure


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
