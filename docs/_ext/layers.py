"""The directive ``layers``: which layer of the package uses which, drawn from the imports as an SVG.

Run it to write the picture to a file.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WHOLE = "conicnmf"
"""What the picture calls the package's own list of public names."""
OUTSIDE = ("experiments", "benchmarks")
Uses = Counter[tuple[str, str]]

_CELL, _LEFT, _TOP, _FONT = 17, 100, 100, 14


@dataclass(frozen=True)
class Picture:
    """The layers in order, and how many imports each makes from each: at once, or in a method."""

    layers: list[str]
    at_once: Uses
    late: Uses


def ordered_layers() -> list[str]:
    """Return the layers in the order that tests/test_layers.py holds the imports to."""
    tree = ast.parse((ROOT / "tests/test_layers.py").read_text(encoding="utf-8"))
    (layers,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS"
    )
    after = layers.index("extend") + 1
    return [*layers[:after], WHOLE, *layers[after:], *OUTSIDE]


def read_imports() -> Picture:
    """Count the imports between layers."""
    layers = ordered_layers()
    at_once, late = Counter(), Counter()
    for folder in (WHOLE, *OUTSIDE):
        for path in sorted((ROOT / folder).rglob("*.py")):
            user = _layer(path.relative_to(ROOT).with_suffix("").parts)
            for used, in_function in _imports(ast.parse(path.read_text(encoding="utf-8"))):
                layer = _layer(used)
                ours = used[0] in (WHOLE, *OUTSIDE)  # Python has a module `types` as well
                if ours and layer != user and layer in layers:
                    # An import in a function matters only where it reaches a later layer.
                    later = in_function and layers.index(layer) > layers.index(user)
                    (late if later else at_once)[user, layer] += 1
    return Picture(layers, at_once, late)


def _layer(parts: tuple[str, ...]) -> str:
    """Return the layer of a module: conicnmf.solve.engine is in solve."""
    inside = parts[0] == WHOLE and len(parts) > 1 and parts[1] != "__init__"
    return parts[1] if inside else parts[0]


def _imports(node: ast.AST, in_function: bool = False) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the modules that are imported, and whether inside a function; not those for types."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from ((tuple(alias.name.split(".")), in_function) for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            folder = ROOT / whole.replace(".", "/")
            own = folder.is_dir() or folder.with_suffix(".py").exists()
            yield tuple((whole if own else node.module).split(".")), in_function
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, in_function or isinstance(node, ast.FunctionDef))


def as_svg(picture: Picture) -> str:
    """Return the picture: a row for each layer, a dot in the column of each layer that it uses."""
    layers = picture.layers
    width, height = _LEFT + _CELL * len(layers) + 2, _TOP + _CELL * len(layers) + 2
    parts = [*_names(layers), *_grid(layers)]
    for kind, uses in (("dot", picture.at_once), ("ring", picture.late)):
        for (user, layer), count in sorted(uses.items()):
            parts.append(_mark(kind, layers.index(user), layers.index(layer), user, layer, count))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'style="width:100%;max-width:{1.3 * width:.0f}px" font-size="{_FONT}" '
        'font-family="system-ui, sans-serif" fill="currentColor">\n'
        "<title>Which layer of the package uses which</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _names(layers: list[str]) -> Iterator[str]:
    for i, layer in enumerate(layers):
        middle = (i + 0.5) * _CELL
        yield f'<text x="{_LEFT - 6}" y="{_TOP + middle + 4.5}" text-anchor="end">{layer}</text>'
        x, y = _LEFT + middle + 4.5, _TOP - 6
        yield f'<text x="{x}" y="{y}" transform="rotate(-90 {x} {y})">{layer}</text>'


def _grid(layers: list[str]) -> Iterator[str]:
    size = _CELL * len(layers)
    for i in range(len(layers) + 1):
        at = i * _CELL
        yield (
            f'<path d="M{_LEFT} {_TOP + at}h{size}M{_LEFT + at} {_TOP}v{size}" '
            'stroke="currentColor" stroke-opacity="0.13"/>'
        )
    for i in range(len(layers)):
        x, y = _LEFT + i * _CELL, _TOP + i * _CELL
        yield f'<path d="M{x} {y}h{_CELL}v{_CELL}h-{_CELL}z" fill-opacity="0.16"/>'


def _mark(kind: str, row: int, column: int, user: str, layer: str, count: int) -> str:
    """Return a filled dot or a ring, larger for more imports."""
    x, y = (offset + (k + 0.5) * _CELL for offset, k in ((_LEFT, column), (_TOP, row)))
    radius = min(7.0, 2.4 + 0.8 * count**0.5)
    # This blue is read on white and on black alike.
    look = 'fill="#3b82f6"' if kind == "dot" else 'fill="none" stroke="#f97316" stroke-width="2"'
    imports = f"{count} import{'s' * (count > 1)}"
    said = escape(f"{user} uses {layer}: {imports}{' in functions' * (kind == 'ring')}")
    size = radius if kind == "dot" else 4.5
    return f'<circle cx="{x}" cy="{y}" r="{size:.1f}" {look}><title>{said}</title></circle>'


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Layers(SphinxDirective):
        """The picture, for HTML pages."""

        def run(self) -> list[nodes.Node]:
            """Return the SVG."""
            return [nodes.raw("", as_svg(read_imports()), format="html")]

    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(as_svg(read_imports()), encoding="utf-8")
