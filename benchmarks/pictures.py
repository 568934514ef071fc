"""Pictures of the page: every ratio with its target, and iterations above their matrix products."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Row
from conicnmf.report.style import Figure, log_times, new_figure, series, styled

_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
_COLORS = series(["met", "missed", "floor"])


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
    figure = new_figure(0.8 + 0.3 * len(names))
    axes = figure.add_subplot()
    for met, name, marker in ((True, "met", "o"), (False, "missed", "X")):
        shown = [row for row in raced if row.ok is met]
        places = [names.index(row.id) for row in shown]
        color = _COLORS[name]["color"]
        axes.scatter(
            [row.ratio for row in shown], places, 30, color, marker=marker, label=name, alpha=0.7
        )
    for row in raced:
        target = float(row.target.split()[1])
        place = names.index(row.id)
        axes.plot([target] * 2, [place - 0.35, place + 0.35], color="#24292f", lw=1.5)
    log_times(axes)
    axes.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    axes.set_xlabel("times faster than the rival")
    if any(row.ok is False for row in raced):
        axes.legend(loc="lower right", frameon=True)
    return figure


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
        first, rest = _COLORS["met"]["color"], _COLORS["missed"]["color"]
        axes.barh(place, share, color=first, label=None if place else "matrix products")
        axes.barh(place, 1 - share, left=share, color=rest, label=None if place else "the rest")
        axes.text(0.99, place, f"{ratio:.2g}× ", ha="right", va="center", color="white")
    labels = [case.replace(", ", "\n", 1) for case, *_ in shown]
    axes.set(yticks=range(len(shown)), yticklabels=labels, ylim=(len(shown) - 0.4, -0.6))
    axes.set_xlabel("share of an iteration")
    axes.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


PICTURES = {
    "speed": Picture(
        "How many times faster than the rival: each mark is a case, each vertical line its target.",
        speed,
    ),
    "floor": Picture(
        "The part of an iteration that is its own matrix products, and how many times longer it takes.",
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
