"""Rows of text as a table of docutils; the first column is set as code."""

from __future__ import annotations

from docutils import nodes


def table_node(headers: list[str], rows: list[list[str]]) -> nodes.table:
    """Return the table."""
    group = nodes.tgroup(cols=len(headers))
    group += [nodes.colspec(colwidth=1) for _ in headers]
    group += nodes.thead("", _row(headers))
    group += nodes.tbody("", *(_row(row, code_first=True) for row in rows))
    return nodes.table("", group, classes=["colwidths-auto"])


def _row(cells: list[str], code_first: bool = False) -> nodes.row:
    row = nodes.row()
    for i, text in enumerate(cells):
        content = nodes.literal(text, text) if code_first and i == 0 else nodes.Text(text)
        row += nodes.entry("", nodes.paragraph("", "", content))
    return row
