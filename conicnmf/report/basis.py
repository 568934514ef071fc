"""The components of a basis as images, or as profiles where they are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from conicnmf.errors import InputError
from conicnmf.model.names import as_names
from conicnmf.report.style import AMOUNTS, SIGNED, WIDTH, new_figure, series, styled
from conicnmf.results import Result
from conicnmf.settings import AS_GIVEN, Count, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_numbers

_MOST_BARS = 64
_MOST_POINTS = 400
_MOST_NAMES = 40
_CAPTION = 0.16
"""Inches that a line below a component takes."""


@checks_arguments
def plot_basis(
    basis: Result | Any,
    image_shape: tuple[Count, Count] | None = None,
    columns: Count | None = None,
    signed: bool | None = None,
    feature_names: Annotated[Any, AS_GIVEN] = None,
    captions: Annotated[Any, AS_GIVEN] = None,
) -> Figure:
    """Draw every component of a basis, each on its own scale.

    Parameters
    ----------
    basis : Result or array
        A result, of which W is drawn or else the first variable with components as columns, or
        a matrix of features × rank.
    image_shape : tuple of int, optional
        (rows, columns) of a component seen as an image, row by row. Without it a component is
        drawn as a profile over the features.
    columns : int, optional
        Components next to each other.
    signed : bool, optional
        Whether zero is the middle of the color scale; by default when an entry is negative.
    feature_names : list of str, optional
        Written below profiles of up to 40 features; those of a result by default.
    captions : list of str, optional
        A few characters below each image. Without them, numbers at the left count the components.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.report import plot_basis
    >>> plot_basis(np.eye(6), image_shape=(2, 3))
    <Figure size 560x...>
    """
    W = _matrix(basis)
    names = _names(basis)
    if feature_names is not None:
        names = as_names(feature_names, "feature_names", len(W)) or ()
    signed = bool((W < 0).any()) if signed is None else signed
    if columns is not None and columns < 1:
        raise InputError(f"columns must be at least 1, got {columns}; leave it out to choose")
    with styled():
        if image_shape is None:
            return _profiles(W, columns, signed, names)
        return _mosaic(W, image_shape, columns, signed, _captions(captions, W.shape[1]))


def _matrix(basis: Result | Any) -> Array:
    given = basis.factors[_first_basis(basis)] if isinstance(basis, Result) else basis
    W: Array = as_numbers(given, "a basis")
    if W.ndim != 2 or 0 in W.shape:
        raise InputError(
            f"a basis is a non-empty matrix, features × rank, got shape {W.shape}; pass a Result or "
            "its W"
        )
    if not np.isfinite(W).all():
        raise InputError("a basis must be finite, got NaN or infinite entries; solve again")
    return W.astype(float)


def _names(basis: Any) -> Sequence[str]:
    return basis.names.rows.get(_first_basis(basis), ()) if isinstance(basis, Result) else ()


def _captions(given: Any, rank: int) -> Sequence[str]:
    lines = [] if given is None else list(map(str, given))
    if lines and len(lines) != rank:
        raise InputError(
            f"captions must be one for each of the {rank} components, got {len(lines)}"
        )
    return lines


def _first_basis(result: Result) -> str:
    """Return W, or the first variable whose components are columns."""
    columns = [name for name, side in result.components.items() if side == "columns"]
    if "W" not in result.factors and not columns:
        listed = ", ".join(result.factors)
        raise InputError(f"this result has no W; pass one of its factors {listed} as a matrix")
    return "W" if "W" in result.factors else columns[0]


def _own_scale(W: Array) -> Array:
    """Return the columns divided by their largest magnitude; a zero column stays zero."""
    sizes = np.abs(W).max(axis=0)
    return W / np.where(sizes > 0, sizes, 1.0)


def _mosaic(
    W: Array, shape: tuple[int, int], columns: int | None, signed: bool, captions: Sequence[str]
) -> Figure:
    """Draw all components as tiles of one image, which stays quick for hundreds of them."""
    height, width = shape
    features, rank = W.shape
    if height < 1 or width < 1 or height * width != features:
        raise InputError(
            f"image_shape must have as many pixels as a component has entries ({features}), got "
            f"{height} × {width}; leave it out to draw profiles"
        )
    across = min(columns or _across(rank, height / width), rank)
    down = -(-rank // across)
    gap = max(1, round(0.06 * max(shape)))
    figure_width = WIDTH - 0.4
    total = across * (width + gap) - gap
    below = gap + (round(_CAPTION * total / figure_width) if captions else 0)
    canvas = np.zeros((down * (height + below) - (0 if captions else gap), total, 4))
    colors = SIGNED if signed else AMOUNTS
    for j, component in enumerate(_own_scale(W).T):
        row, column = divmod(j, across)
        tile = component.reshape(shape)
        top, left = row * (height + below), column * (width + gap)
        canvas[top : top + height, left : left + width] = colors((tile + 1) / 2 if signed else tile)
    figure = new_figure(figure_width * canvas.shape[0] / canvas.shape[1] + 0.1)
    axes = figure.add_subplot()
    # "none" keeps the pixels as they are, sharp at any size, in files that scale.
    axes.imshow(canvas, interpolation="none")
    axes.set_axis_on()
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set_xticks([])
    middles = np.arange(down) * (height + below) + (height - 1) / 2
    numbers = [str(1 + row * across) for row in range(down)]
    axes.set_yticks([] if captions else middles, [] if captions else numbers)
    axes.tick_params(length=0)
    for j, caption in enumerate(captions):
        row, column = divmod(j, across)
        place = column * (width + gap) + (width - 1) / 2, row * (height + below) + height - 0.5
        axes.annotate(
            caption, place, (0, -2), textcoords="offset points", ha="center", va="top", size=8
        )
    return figure


def _across(rank: int, ratio: float) -> int:
    """Return how many tiles make a mosaic about twice as wide as high."""
    return max(1, min(rank, 16, int(np.ceil(np.sqrt(2 * rank * ratio)))))


def _profiles(W: Array, columns: int | None, signed: bool, names: Sequence[str]) -> Figure:
    """Draw the components as profiles above each other, each with its own zero line."""
    features, rank = W.shape
    across = min(columns or (1 if rank <= 6 else 2 if rank <= 40 else 4), rank)
    down = -(-rank // across)
    figure = new_figure(min(0.7 + 0.45 * down, 20.0))
    panels = figure.subplots(1, across, sharex=True, squeeze=False)[0]
    color = series(["profile"])["profile"]["color"]
    position, profiles = _thinned(_own_scale(W))
    reach = 0.45 if signed else 0.9
    for j, component in enumerate(profiles.T):
        panel, row = divmod(j, down)
        _profile(panels[panel], position, component * reach, -row, color, features <= _MOST_BARS)
    for panel, axes in enumerate(panels):
        numbers = range(panel * down, min((panel + 1) * down, rank))
        axes.set_yticks([-(n - panel * down) for n in numbers], [str(n + 1) for n in numbers])
        axes.set_ylim(-down + 1 - (0.55 if signed else 0.1), 0.55 if signed else 1.0)
        axes.set_xlim(0.5, features + 0.5)
        axes.grid(False, axis="x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        if 0 < features * across <= _MOST_NAMES and names:
            axes.set_xticks(range(1, features + 1), names, rotation=90, fontsize=7)
        else:
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            axes.set_xlabel("feature")
    panels[0].set_ylabel("component")
    return figure


def _profile(axes: Axes, position: Array, values: Array, base: int, color: str, bars: bool) -> None:
    if bars:
        axes.bar(position, values, width=0.8, bottom=base, color=color)
        return
    axes.fill_between(position, base, base + values, color=color, alpha=0.3, linewidth=0)
    axes.plot(position, base + values, color=color, linewidth=0.7)


def _thinned(W: Array) -> tuple[Array, Array]:
    """Return positions and values, the largest magnitude of each stretch where there are many."""
    features = W.shape[0]
    if features <= _MOST_POINTS:
        return np.arange(1.0, features + 1), W
    edges = np.linspace(0, features, _MOST_POINTS + 1).astype(int)
    starts, ends = edges[:-1], edges[1:]
    high, low = np.maximum.reduceat(W, starts), np.minimum.reduceat(W, starts)
    return (starts + ends + 1) / 2, np.where(high >= -low, high, low)
