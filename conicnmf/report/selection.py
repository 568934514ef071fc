"""Choosing the model: paths over a parameter, errors of held-out entries, consensus of seeds."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from conicnmf.report.style import AMOUNTS, INK, legend_below, new_figure, series, styled
from conicnmf.settings import checks_arguments
from conicnmf.study import Path, RankChoice, Stability
from conicnmf.types import Array

_WIDE = 20
"""Values whose largest and smallest differ by more than this factor get a log axis."""


@checks_arguments
def plot_path(path: Path, name: str = "value") -> Figure:
    """Draw the relative error and the sparseness of the variables along a path.

    Parameters
    ----------
    path : Path
    name : str
        What the parameter is called.

    Returns
    -------
    matplotlib.figure.Figure
        Hollow dots are values at which the solve failed.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_path
    >>> from conicnmf.study import path
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> models = path(lambda w: cn.factorize(V, 2, H=[cn.NonNegative(), cn.L1(w)]), [0.1, 1.0])
    >>> plot_path(models, "weight")
    <Figure size 560x...>
    """
    x = np.array(path.values)
    failed = np.array([result.status.kind == "failed" for result in path.results])
    panels = {
        "relative error": {"relative error": path.table["relative_error"].to_numpy()},
        "mean sparseness": _sparseness_lines(path),
    }
    looks = series(label for lines in panels.values() for label in lines)
    with styled():
        figure = new_figure(4.6)
        grid = figure.subplots(2, 1, sharex=True)
        for axes, (title, lines) in zip(grid, panels.items(), strict=True):
            for label, y in lines.items():
                if np.isnan(y).all():
                    continue  # every component is zero
                axes.plot(x, y, label=label, **looks[label])
                color = looks[label]["color"]
                axes.plot(x[~failed], y[~failed], "o", markersize=4, color=color)
                axes.plot(x[failed], y[failed], "o", markersize=4, color=color, mfc="none")
            axes.set_ylabel(title)
        grid[0].set_ylim(bottom=0)
        grid[1].set_ylim(-0.02, 1.02)
        if x.min() > 0 and x.max() > _WIDE * x.min():
            grid[1].set_xscale("log")
        grid[1].set_xlabel(name)
        legend_below(figure, grid[1])
    return figure


def _sparseness_lines(path: Path) -> dict[str, Array]:
    """Return the mean sparseness of each variable's components along a path."""
    sides = {name: r.side(name) for r in path.results for name in r.factors if r.side(name)}
    return {
        f"{side} of {name}": path.table[f"sparseness_{name}"].to_numpy()
        for name, side in sides.items()
    }


@checks_arguments
def plot_rank(choice: RankChoice) -> Figure:
    """Draw the error of held-out and of fitted entries against the rank.

    Parameters
    ----------
    choice : RankChoice

    Returns
    -------
    matplotlib.figure.Figure
        Bars are one standard error; small dots are single folds. The shaded strip reaches one
        standard error above the lowest error, and the ring marks the smallest rank within it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.report import plot_rank
    >>> from conicnmf.study import cross_validate_rank
    >>> V = cn.datasets.low_rank(20, 15, 2, seed=0).V
    >>> plot_rank(cross_validate_rank(V, [1, 2, 3], folds=2, stop=50))
    <Figure size 560x...>
    """
    table = choice.table
    ranks = table.index.to_numpy()
    held_out, bars = table["held_out"].to_numpy(), table["standard_error"].to_numpy()
    looks = series(["held-out entries", "fitted entries"])
    with styled():
        figure = new_figure(3.4)
        axes = figure.add_subplot()
        mark = looks["held-out entries"]
        lowest = int(np.flatnonzero(ranks == choice.best)[0])
        axes.axhspan(
            held_out[lowest],
            held_out[lowest] + np.nan_to_num(bars[lowest]),
            color=mark["color"],
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(
            choice.folds["rank"], choice.folds["held_out"], ".", color=mark["color"], alpha=0.35
        )
        axes.errorbar(ranks, held_out, bars, label="held-out entries", capsize=2, **mark)
        axes.plot(ranks, table["fitted"], label="fitted entries", **looks["fitted entries"])
        chosen = held_out[int(np.flatnonzero(ranks == choice.rank)[0])]
        axes.plot([choice.rank], [chosen], "o", markersize=12, mfc="none", color=INK)
        axes.set_title(f"rank {choice.rank} is the smallest within one standard error")
        axes.set_xlabel("rank")
        axes.set_ylabel("relative error")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _keep_the_valley(axes, held_out, table["fitted"].to_numpy())
        legend_below(figure, axes)
    return figure


def _keep_the_valley(axes: Axes, held_out: Array, fitted: Array) -> None:
    """Use a log axis for errors of several sizes, and cut off what explodes at high ranks."""
    lowest = int(np.nanargmin(held_out))
    positive = np.concatenate([held_out[: lowest + 1], fitted])
    positive = positive[positive > 0]
    if positive.size and positive.max() > _WIDE * positive.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    highest = 1.2 * max(float(np.nanmax(held_out[: lowest + 1])), 2 * float(held_out[lowest]))
    if axes.get_ylim()[1] > highest > 0:
        axes.set_ylim(top=highest)


@checks_arguments
def plot_consensus(found: Stability) -> Figure:
    """Draw how often samples are grouped together, and how well each component is found again.

    Parameters
    ----------
    found : Stability

    Returns
    -------
    matplotlib.figure.Figure
        Left, the share of runs in which two samples have the same main component, samples sorted
        by it: clean squares are groups that every run finds. Right, for each component of the best
        result the cosines with its matches in the other runs, and their mean.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import plot_consensus
    >>> from conicnmf.study import stability
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> plot_consensus(stability(cn.factorize(V, 2), cn.HALS(), n_starts=3))
    <Figure size 560x...>
    """
    with styled():
        figure = new_figure(3.1)
        left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
        order = found.order
        image = left.imshow(
            found.consensus[np.ix_(order, order)],
            cmap=AMOUNTS,
            vmin=0,
            vmax=1,
            interpolation="none" if len(order) < 300 else "antialiased",
        )
        left.grid(False)
        left.set(xticks=[], yticks=[])
        left.set_title(f"consensus of {len(found.results)} runs")
        left.set_xlabel(f"samples; cophenetic correlation {found.cophenetic:.3f}")
        figure.colorbar(image, ax=left, shrink=0.8)
        _components(right, found)
    return figure


def _components(axes: Axes, found: Stability) -> None:
    """Draw the cosines of each component with its matches, the steadiest component first."""
    others = [i for i, result in enumerate(found.results) if result is not found.best]
    order = np.argsort(-found.components)
    color = series(["cosines"])["cosines"]["color"]
    places = np.arange(1, len(order) + 1)
    for i in others:
        axes.plot(places, found.cosines[i, order], ".", color=color, alpha=0.35, markeredgewidth=0)
    axes.plot(places, found.components[order], "_", color=INK, markersize=10, markeredgewidth=1.5)
    axes.set_ylim(min(0.5, float(found.cosines.min())) - 0.02, 1.02)
    axes.set_title("components found again")
    axes.set_xlabel(f"component; mean cosine {found.score:.3f}")
    axes.set_ylabel("cosine with its match")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
