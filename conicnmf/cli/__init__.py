"""The command line: ``conicnmf demo | fit | compare | solvers | datasets``."""

from __future__ import annotations

from conicnmf.cli import demo, lists, run
from conicnmf.cli._app import app

__all__ = ["app", "demo", "lists", "run"]
