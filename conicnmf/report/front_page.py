"""The demo's page: a picture and a claim, where cone methods win, and the whole comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from conicnmf.model.reading import sparseness
from conicnmf.report.basis import plot_basis
from conicnmf.report.comparison_page import comparison_sections
from conicnmf.report.page import code, figure_html, page, paragraph, section, table_html, write_page
from conicnmf.report.result_page import Certificates
from conicnmf.report.tables import Table, number
from conicnmf.results import Result
from conicnmf.study.certificate import Certificate
from conicnmf.study.compare import Comparison
from conicnmf.types import Array

# Three radio buttons are a slider that needs no script: arrow keys and fingers move it.
_CSS = """
.front { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
.front > * { background: var(--card); padding: 0.8rem; border-radius: 6px; }
.front figure { margin: 0; }
.levels { margin: 1.2rem 0; }
.levels > input { position: absolute; opacity: 0; }
.track { position: relative; display: flex; justify-content: space-between; max-width: 26rem;
  margin: 0.4rem auto 1rem; }
.track::before { content: ""; position: absolute; left: 2.5rem; right: 2.5rem; top: 0.55rem;
  height: 4px; border-radius: 2px; background: var(--line); }
.track label { position: relative; width: 5rem; text-align: center; cursor: pointer;
  color: var(--soft); font-size: 0.9rem; }
.track label::before { content: ""; display: block; width: 1.2rem; height: 1.2rem;
  margin: 0 auto 0.3rem; border-radius: 50%; background: var(--ground); border: 3px solid var(--soft); }
.level { display: none; }
.asked { text-align: center; margin: 0 auto; }
.badge { display: inline-block; padding: 0.15rem 0.7rem; border-radius: 1rem; font-size: 0.85rem;
  font-weight: 650; border: 1.5px solid var(--bad); color: var(--bad); }
.badge.good { border-color: var(--good); color: var(--good); }
"""
_CHOSEN = """#level-%(i)d:checked ~ .front .level-%(i)d { display: block; }
#level-%(i)d:checked ~ .track label:nth-of-type(%(n)d) { color: var(--ink); font-weight: 650; }
#level-%(i)d:checked ~ .track label:nth-of-type(%(n)d)::before { background: var(--good);
  border-color: var(--good); }
#level-%(i)d:focus-visible ~ .track label:nth-of-type(%(n)d)::before { outline: 2px solid var(--ink);
  outline-offset: 2px; }"""


@dataclass(frozen=True)
class Level:
    """A result under a bound on the sparseness of its parts, and what was checked of it."""

    bound: float
    result: Result
    certificate: Certificate


def front_page(
    path: Path,
    data: Array,
    image_shape: tuple[int, int],
    plain: Result,
    levels: list[Level],
    lines: str,
    race: Comparison,
    comparison: Comparison,
    certificates: Certificates,
) -> Path:
    """Write the page: data, parts that a slider sharpens, lines to copy, a race and a comparison."""
    title = "Parts you can see, with a certificate"
    said = (
        "Handwritten digits, taken apart. Plain factorization gives blurry parts; require "
        "sparse parts, and they become strokes. Move the slider."
    )
    sections = [
        _opening(data, image_shape, plain, levels),
        section("Five lines", code(lines)),
        section("Where cone methods win", *_race(race)),
        *comparison_sections(comparison, image_shape, certificates),
    ]
    return write_page(path, page(title, said, sections))


def _opening(data: Array, shape: tuple[int, int], plain: Result, levels: list[Level]) -> str:
    """Return data, blurry parts and sharp ones next to each other, with the slider above."""
    middle = len(levels) // 2
    inputs, labels, panels = [], [], []
    for i, level in enumerate(levels):
        checked = " checked" if i == middle else ""
        name = f"sparseness ≥ {level.bound:g}"
        inputs.append(
            f'<input type="radio" name="level" id="level-{i}" aria-label="{name}"{checked}>'
        )
        labels.append(f'<label for="level-{i}">≥ {level.bound:g}</label>')
        panels.append(f'<div class="level level-{i}">{_panel(level, shape)}</div>')
    chosen = "\n".join(_CHOSEN % {"i": i, "n": i + 1} for i in range(len(levels)))
    left = figure_html(
        plot_basis(data, shape), "Some of the digits.", "The data: some of the digits."
    )
    found = sparseness(plain.W, axis=0)
    least, most = found.min(), found.max()
    blurry = figure_html(
        plot_basis(plain, shape),
        "Parts of a plain factorization, blurry.",
        f"Plain: error {plain.relative_error:.1%}, sparseness {least:.2f} to {most:.2f}.",
    )
    return "\n".join(
        [
            '<section id="parts" class="levels">',
            f"<style>{_CSS}{chosen}</style>",
            *inputs,
            paragraph("Sparseness of each part", "soft asked"),
            f'<div class="track">{"".join(labels)}</div>',
            f'<div class="front">{left}{blurry}<div>{"".join(panels)}</div></div>',
            "</section>",
        ]
    )


def _panel(level: Level, shape: tuple[int, int]) -> str:
    """Return the parts at one level, and the badge of their certificate."""
    name = f"Parts of sparseness at least {level.bound:g}"
    caption = f"{name}: error {level.result.relative_error:.1%}."
    good = level.certificate.ok
    proves = "" if level.certificate.proves == "nothing" else f": {level.certificate.proves}"
    words = f"✓ certified{proves}" if good else "not certified"
    badge = f'<p><span class="badge{" good" if good else ""}">{escape(words)}</span></p>'
    return figure_html(plot_basis(level.result, shape), f"{name}.", caption) + badge


def _race(race: Comparison) -> Iterator[str]:
    """Yield what every solver reached from the same starts; the cone method is the first."""
    means = race.table.groupby("solver", sort=False)["objective"].agg(["mean", "min", "max"])
    best = means["mean"].idxmin()
    rows = [
        [str(name), *(number(value, 5) for value in row)]
        for name, row in zip(means.index, means.to_numpy(), strict=True)
    ]
    headers = ["solver", "mean", "lowest", "highest"]
    starts = race.table["seed"].nunique()
    if best == means.index[0] and len(means) > 1:
        above = means["mean"].iloc[1:].min() / means["mean"].iloc[0] - 1
        yield paragraph(
            "Few parts, all of them sparse: solvers that update one part at a time get trapped, "
            f"and tangent planes move all parts at once. Over {starts} starts the next solver ends "
            f"{above:.1%} above {best} on average. The example was chosen on other starts."
        )
    else:
        yield paragraph(
            f"Over {starts} starts {best} has the lowest mean objective in this example."
        )
    strong = frozenset([list(means.index).index(best)])
    yield table_html(Table(headers, rows, frozenset(headers[1:]), strong))
    yield paragraph("The objective over the starts.", "soft")
