"""Formulas as MathML, which browsers show by themselves: the pages load nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_logger = logging.getLogger(__name__)


def _converted(node: nodes.Element, as_block: bool) -> str:
    text = node.astext()
    try:
        formula: str = tex2mathml(text, as_block=as_block)
    except MathError as error:
        _logger.warning("formula %r: %s", text, error, location=node)
        return f"<code>{escape(text)}</code>"
    # A bar that stretches would be as high as its own exponent instead of the norm.
    return formula.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_converted(node, as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer under the name "mathml"."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
