"""The directive ``shape``: the data and the factors of a problem as boxes, drawn from the problem.

Run it to write the picture of a shape to a file: ``python shapes.py coupled coupled.svg``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import conicnmf as cn

_UNIT, _GAP, _FONT = 11, 26, 15
_COLORS = ("#3b82f6", "#f97316", "#10b981", "#a855f7", "#eab308")
"""They are read on white and on black alike; a variable has the same one everywhere."""

Box: TypeAlias = tuple[str, str, int, int]
"""The sign before it, name, rows, columns."""


def problems() -> dict[str, cn.Problem]:
    """Return a small problem of each shape that the page on modeling shows."""
    V, U = np.ones((7, 9)), np.ones((4, 9))
    known = {"D": np.ones((7, 4))}
    return {
        "two": cn.factorize(V, 2),
        "coupled": cn.factorize({"genes": V, "proteins": U}, 2),
        "offset": cn.factorize(V, 2, offset="feature"),
        "three": cn.factorize(V, (3, 2)),
        "known": cn.compose(cn.Approx(V, "D @ W @ H"), rank=2, constants=known),
        "self": cn.one_factor.ProjectiveNMF(V, 2),
        "gain": cn.one_factor.QuadraticProjection(np.ones((7, 7)), 2),
    }


def as_svg(problem: cn.Problem) -> str:
    """Return the picture: a row for each matrix of data."""
    colors = dict(zip(problem.variables, _COLORS, strict=False))
    parts, top, width = [], 4, 0
    drawn = list(_rows(problem))
    for _, boxes in drawn:
        height = _UNIT * max(rows for _, _, rows, _ in boxes)
        x = 4
        for sign, name, rows, columns in boxes:
            x += _GAP if sign else 6
            if sign:
                parts.append(_text(x - _GAP / 2, top + height / 2, sign))
            color = colors.get(name.rstrip("ᵀ"))
            parts.append(_box(x, top, height, name, (rows, columns), color))
            x += _UNIT * columns
        width, top = max(width, x + 4), top + height + 14
    named = "; ".join(said for said, _ in drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" role="img" '
        f'style="width:100%;max-width:{1.4 * width:.0f}px" font-size="{_FONT}" '
        'font-family="system-ui, sans-serif" fill="currentColor" text-anchor="middle">\n'
        f"<title>{named}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _rows(problem: cn.Problem) -> Iterator[tuple[str, list[Box]]]:
    """Yield what each row says and its boxes: the fits, or the one factor and what surrounds it."""
    for fit in problem.fits:
        yield str(fit), list(_boxes(fit, problem))
    for name, variable in problem.variables.items():
        m, r = variable.shape
        for term in variable.terms:
            if isinstance(term, cn.SelfFit):
                data = ("V", *term.V.shape)
                boxes = [("", *data), ("≈", name, m, r), ("", f"{name}ᵀ", r, m), ("", *data)]
                yield f"V ≈ {name} {name}ᵀ V", boxes
            if isinstance(term, cn.Gain):
                boxes = [("", f"{name}ᵀ", r, m), ("", "A", m, m), ("", name, m, r)]
                yield f"the trace of {name}ᵀ A {name}", boxes


def _boxes(fit: Any, problem: cn.Problem) -> Iterator[Box]:
    """Yield the boxes of the data and of each factor."""
    yield "", fit.name, *fit.V.shape
    for place, chain in enumerate(fit.chains):
        sign = "+" if place else "≈"
        for factor in chain.factors:
            if isinstance(factor, np.ndarray):
                name = "1" if 1 in factor.shape else "D"
                yield sign, name, *factor.shape
            else:
                yield sign, factor.name, *problem.shapes[factor.name]
            sign = ""


def _box(
    x: float, top: float, height: float, name: str, shape: tuple[int, int], color: str | None
) -> str:
    """Return a box in the middle of its row; data and constants are gray."""
    high, wide = _UNIT * shape[0], _UNIT * shape[1]
    y = top + (height - high) / 2
    fill = f'fill="{color}" fill-opacity="0.45"' if color else 'fill-opacity="0.14"'
    said = f"{name}: {shape[0]} × {shape[1]}"
    label = name.partition("_")[0] if color else name  # its row says to which view it belongs
    return (
        f'<g><title>{said}</title><rect x="{x}" y="{y}" width="{wide}" height="{high}" {fill} '
        f'stroke="currentColor" stroke-opacity="0.5"/>{_text(x + wide / 2, y + high / 2, label)}</g>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x}" y="{y + 5}">{text}</text>'


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Shape(SphinxDirective):
        """The picture of one shape, for HTML pages."""

        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            """Return the SVG."""
            return [nodes.raw("", as_svg(problems()[self.arguments[0]]), format="html")]

    app.add_directive("shape", Shape)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(as_svg(problems()[sys.argv[1]]), encoding="utf-8")
