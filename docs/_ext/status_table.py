"""The directive ``status-table``: every status with its kind and its advice."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from table_node import table_node

from conicnmf import Status


class StatusTable(SphinxDirective):
    """A table of the statuses."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = [[status.name, status.kind, status.value] for status in Status]
        return [table_node(["status", "kind", "advice"], rows)]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("status-table", StatusTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
