"""The directive ``solver-table``: which solver fits what, worked out while the pages are built."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from fits import fit_table
from sphinx.util.docutils import SphinxDirective
from table_node import table_node


class SolverTable(SphinxDirective):
    """A table of solvers against representative problems."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        return [table_node(*fit_table())]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("solver-table", SolverTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
