"""The command line: ``conicnmf demo | fit | compare | reproduce | solvers | datasets``."""

from __future__ import annotations

from conicnmf.cli import demo, lists, reproduce, run
from conicnmf.cli._app import app

__all__ = ["app", "demo", "lists", "reproduce", "run"]
