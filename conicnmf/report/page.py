"""The frame of a page: one file of HTML that loads nothing, for any screen, in light and dark mode."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from conicnmf.errors import InputError
from conicnmf.report.style import figure_bytes
from conicnmf.report.tables import Table

_LONG = 28
"""Letters of a cell that may break, anywhere if need be; names of solvers are shorter."""

_CSS = """
:root { color-scheme: light dark; --ink: #24292f; --soft: #5b6572; --ground: #ffffff;
  --card: #f6f8fa; --line: #d5dae1; --good: #00694c; --warn: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #d7dee6; --soft: #9aa3ad; --ground: #12161b;
  --card: #1a2027; --line: #3b444f; --good: #4fc79f; --warn: #e8b04a; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1rem 4rem; color: var(--ink);
  background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1rem 0 0.25rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; padding-top: 0.6rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
.soft, figcaption { color: var(--soft); font-size: 0.9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.9rem 0.3rem 0;
  border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 600; }
td { white-space: nowrap; } td.long { min-width: 12rem; white-space: normal;
  overflow-wrap: anywhere; }
.number { text-align: right; }
@media (max-width: 36rem) { td.long { min-width: 9rem; } th, td { padding-right: 0.5rem; } }
tr.strong td { font-weight: 650; }
pre { background: var(--card); padding: 0.8rem; border-radius: 6px; white-space: pre-wrap;
  font-size: 0.85rem; }
figure { margin: 0.8rem 0; max-width: 40rem; } figure img { width: 100%; height: auto; display: block; }
.gallery { display: grid; gap: 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.gallery figure { margin: 0; background: var(--card); padding: 0.8rem; border-radius: 6px; }
.status { border-left: 4px solid var(--soft); background: var(--card); padding: 0.6rem 0.9rem;
  border-radius: 0 6px 6px 0; }
.converged { border-color: var(--good); } .stopped { border-color: var(--warn); }
.failed { border-color: var(--bad); }
.status b { margin-right: 0.4rem; }
summary { cursor: pointer; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="soft">{lead}</p>
</header>
<main>
{sections}
</main>
</body>
</html>
"""


def page(title: str, lead: str, sections: Iterable[str]) -> str:
    """Return a whole page; title and lead are plain text, sections are HTML."""
    return _PAGE.format(
        title=escape(title), lead=escape(lead), css=_CSS, sections="\n".join(sections)
    )


def write_page(path: Path, text: str) -> Path:
    """Write a page, its folder made where there is none, and return the path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")
    except OSError as error:
        raise InputError(
            f"a page needs a file that can be written, got {path} ({error}); make room there or name "
            "another"
        ) from error
    return path


def section(title: str, *parts: str) -> str:
    r"""Return a section, its address made from its title.

    Examples
    --------
    >>> section("Best & worst", paragraph("1 < 2"))
    '<section id="best-worst">\n<h2>Best &amp; worst</h2>\n<p>1 &lt; 2</p>\n</section>'
    """
    words = "".join(c if c.isalnum() else " " for c in title.lower()).split()
    body = "\n".join([f"<h2>{escape(title)}</h2>", *parts])
    return f'<section id="{"-".join(words)}">\n{body}\n</section>'


def paragraph(text: str, css: str = "") -> str:
    """Return a paragraph of plain text."""
    return f"<p{_css(css)}>{escape(text)}</p>"


def heading(text: str) -> str:
    """Return a heading within a section."""
    return f"<h3>{escape(text)}</h3>"


def code(text: str) -> str:
    """Return text as it stands, in its lines."""
    return f"<pre>{escape(text)}</pre>"


def status_note(name: str, kind: str, advice: str) -> str:
    """Return a status with its advice, colored by its kind."""
    return f'<p class="status {escape(kind)}"><b>{escape(name)}</b>{escape(advice)}</p>'


def table_html(table: Table) -> str:
    """Return a table that scrolls sideways where the screen is narrow."""
    head = "".join(
        f'<th scope="col"{_css("number" if text in table.numeric else "")}>{escape(text)}</th>'
        for text in table.headers
    )
    rows = "\n".join(
        f"<tr{_css('strong' if i in table.strong else '')}>{_cells(row, table)}</tr>"
        for i, row in enumerate(table.rows)
    )
    return (
        '<div class="scroll"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _cells(row: list[str], table: Table) -> str:
    cells = []
    for header, text in zip(table.headers, row, strict=True):
        css = "number" if header in table.numeric else "long" if len(text) > _LONG else ""
        cells.append(f"<td{_css(css)}>{escape(text)}</td>")
    return "".join(cells)


def figure_html(figure: Figure, alt: str, caption: str = "") -> str:
    """Return a figure embedded in the page, with a text for those who cannot see it."""
    data = base64.b64encode(figure_bytes(figure, "svg")).decode()
    image = f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{image}{below}</figure>"


def gallery(figures: Iterable[str]) -> str:
    """Return figures next to each other as far as the screen allows."""
    return '<div class="gallery">\n' + "\n".join(figures) + "\n</div>"


def folded(title: str, *parts: str) -> str:
    """Return parts that open on a click."""
    return f"<details><summary>{escape(title)}</summary>\n" + "\n".join(parts) + "\n</details>"


def _css(name: str) -> str:
    return f' class="{name}"' if name else ""
