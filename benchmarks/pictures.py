"""Pictures of the page: every ratio with its target, and iterations above their matrix products."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from benchmarks import NAMES
from benchmarks.harness import Row
from conicnmf.report.style import GRID, Figure, log_times, new_figure, series, styled

_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
_COLORS = series(["met", "missed"])


@dataclass(frozen=True)
class Picture:
    """A caption, and what draws the rows, or nothing where there are none to draw."""

    caption: str
    figure: Callable[[Sequence[Row]], Figure | None]


def seconds(text: str) -> float | None:
    """Return the seconds of a cell such as ``9.87 ms``, or None if it is no time.

    Examples
    --------
    >>> seconds("2 ms"), seconds("3 GF/s")
    (0.002, None)
    """
    found = re.fullmatch(r"([\d.e+-]+) (s|ms|µs|ns)", text)
    return float(found[1]) * _SECONDS[found[2]] if found else None


def speed(rows: Sequence[Row]) -> Figure | None:
    """Draw how many times faster each case is, with the targets."""
    raced = [
        row
        for row in rows
        if row.target.startswith("≥")
        and seconds(row.ours)
        and seconds(row.theirs)
        and row.ratio > 0
    ]
    names = list(dict.fromkeys(row.id for row in raced))
    if not names:
        return None
    figure = new_figure(0.8 + 0.4 * len(names))
    axes = figure.add_subplot()
    for place, name in enumerate(names):
        cases = [row for row in raced if row.id == name]
        for row, shift in zip(cases, np.linspace(-0.3, 0.3, len(cases) + 2)[1:-1], strict=True):
            _case(axes, row, place + shift)
    log_times(axes)
    labels = [textwrap.fill(NAMES[name], 24) for name in names]
    axes.set(yticks=range(len(names)), yticklabels=labels, ylim=(len(names) - 0.4, -0.6))
    axes.set_xlabel("how many times faster than the other program")
    marks = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(marks.values(), marks.keys(), loc="outside lower center", ncols=3)
    return figure


def _case(axes: Axes, row: Row, height: float) -> None:
    """Draw one case: its target, its ratio, and a line between them."""
    target, name = float(row.target.split()[1]), "met" if row.ok else "missed"
    color = _COLORS[name]["color"]
    axes.plot([target, row.ratio], [height] * 2, color=color, lw=0.8, alpha=0.6)
    axes.plot(target, height, "|", color="#24292f", ms=7, mew=1.6, label="target")
    axes.plot(row.ratio, height, "o" if row.ok else "X", color=color, ms=5, label=name)


def floor(rows: Sequence[Row]) -> Figure | None:
    """Draw the time of an iteration, of which its products are a part."""
    shown = [
        (row.case, seconds(row.ours), seconds(row.theirs), row.ratio)
        for row in rows
        if row.id == "floor" and seconds(row.theirs)
    ]
    if not shown:
        return None
    figure = new_figure(0.9 + 0.5 * len(shown))
    axes = figure.add_subplot()
    for place, (_, ours, products, ratio) in enumerate(shown):
        share = products / ours
        blue = _COLORS["met"]["color"]
        axes.barh(place, share, color=blue, label=None if place else "matrix products")
        axes.barh(place, 1 - share, left=share, color=GRID, label=None if place else "the rest")
        axes.text(0.99, place, f"{ratio:.2g}× ", ha="right", va="center")
    labels = [case.replace(", ", "\n", 1) for case, *_ in shown]
    axes.set(yticks=range(len(shown)), yticklabels=labels, ylim=(len(shown) - 0.4, -0.6))
    axes.set_xlabel("share of an iteration")
    axes.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


PICTURES = {
    "speed": Picture(
        "How many times faster than the other program. Each case is joined to its target by a line.",
        speed,
    ),
    "floor": Picture(
        "How much of an iteration its matrix products alone would take. The figure at the right tells "
        "how many times longer the whole iteration is.",
        floor,
    ),
}


def draw(rows: Iterable[Row], folder: Path) -> dict[str, str]:
    """Save every picture that the rows allow, and return the names of the files."""
    rows, saved = list(rows), {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        with styled():
            figure = picture.figure(rows)
            if figure is not None:
                saved[name] = f"{name}.png"
                figure.savefig(folder / saved[name], dpi=130, facecolor="white")
    return saved
