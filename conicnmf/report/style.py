"""One look for every figure: colors for color-blind readers, in light and dark mode."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
from matplotlib import figure as mpl_figure
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from conicnmf.errors import InputError

INK, GRID = "#24292f", "#d5dae1"
WIDTH = 5.6
"""Inches that a full-width figure takes; at this width its text suits a page and a phone."""

Look = dict[str, Any]
"""The color and line of a series, as keywords of matplotlib."""

_SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#767d86")
_LINES = ("-", "--", ":", "-.")
_BY_NIGHT = {
    INK: "#d7dee6",
    GRID: "#3b444f",
    "#0072b2": "#3f8fe0",
    "#56b4e9": "#a5ddff",
    "#767d86": "#9aa3ad",
}

AMOUNTS = LinearSegmentedColormap.from_list(
    "conicnmf_amounts", ["#eef1f5", "#9dbad6", "#3c79ad", "#123a63", "#06182b"]
)
SIGNED = LinearSegmentedColormap.from_list(
    "conicnmf_signed", ["#0b3c6d", "#4393c3", "#f4f5f6", "#d6813c", "#7a2e05"]
)

_RC: Any = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "savefig.facecolor": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    # The same figure gives the same bytes: names inside the file follow from this salt.
    "svg.hashsalt": "conicnmf",
}


def styled() -> Any:
    """Return a context in which figures are made and saved in the style of the package."""
    return mpl.rc_context(_RC)


class Figure(mpl_figure.Figure):
    """A figure that notebooks show as a picture, whether or not pyplot was ever loaded."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.savefig(buffer, format="png", dpi=110, facecolor="white")
        return buffer.getvalue()


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure on a transparent ground."""
    return Figure(figsize=(width, height))


def series(labels: Iterable[str]) -> dict[str, Look]:
    """Return a color and a line for each label, the same for the same order.

    Examples
    --------
    >>> series(["HALS", "TangentPlane"])["TangentPlane"]
    {'color': '#d55e00', 'linestyle': '-'}
    """
    unique = list(dict.fromkeys(labels))
    return {
        label: {
            "color": _SERIES[i % len(_SERIES)],
            "linestyle": _LINES[i // len(_SERIES) % len(_LINES)],
        }
        for i, label in enumerate(unique)
    }


def log_times(axes: Axes) -> None:
    """Make the horizontal axis logarithmic with plain numbers that do not crowd."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    steps = (1.0,) if high > 30 * low else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def legend_below(figure: mpl_figure.Figure, axes: Axes, columns: int | None = None) -> None:
    """Put one legend for the whole figure under it, where it hides no data; one name needs none."""
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    if len(unique) > 1:
        longest = max(map(len, unique))
        across = min(len(unique), columns or max(1, int(WIDTH / (0.09 * longest + 0.5))))
        legend = figure.legend(
            unique.values(), unique.keys(), loc="outside lower center", ncols=across
        )
        for line in legend.get_lines():
            line.set_alpha(1.0)


def figure_bytes(figure: mpl_figure.Figure, kind: str = "png", dpi: int = 150) -> bytes:
    """Return a figure as PNG or SVG; the SVG changes its inks where the reader prefers dark pages.

    Examples
    --------
    >>> from conicnmf.report import plot_basis
    >>> figure_bytes(plot_basis([[1.0, 0.0], [0.0, 2.0]]))[1:4]
    b'PNG'
    """
    if kind not in ("png", "svg"):
        raise InputError(f'a figure is saved as "png" or "svg", got {kind!r}; use figure.savefig')
    buffer = io.BytesIO()
    with styled():
        # Neither dates nor addresses: the file says the same every time and points nowhere.
        unnamed = dict.fromkeys(("Creator", "Date", "Format", "Type")) if kind == "svg" else None
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=unnamed)
    return buffer.getvalue() if kind == "png" else _for_both_modes(buffer.getvalue())


def _for_both_modes(svg: bytes) -> bytes:
    """Return an SVG whose inks are variables with one value in light and another in dark mode."""
    text = svg.decode()
    names = {color: f"--c{i}" for i, color in enumerate(_BY_NIGHT)}
    for color, name in names.items():
        text = text.replace(color, f"var({name})")
    day = "".join(f"{name}:{color};" for color, name in names.items())
    night = "".join(f"{names[color]}:{other};" for color, other in _BY_NIGHT.items())
    rules = f"<style>svg{{{day}}}@media (prefers-color-scheme:dark){{svg{{{night}}}}}</style>"
    _, opening, rest = text.partition("<svg ")  # leaves out the document type's address
    attributes, close, body = rest.partition(">")
    return (opening + attributes + close + rules + body).encode()
