"""The command line: ``conicnmf demo | fit | compare | reproduce | solvers | datasets | warm-up``."""

from __future__ import annotations

from conicnmf.cli import comparing, demo, fit, lists, reproduce, warming
from conicnmf.cli._app import app

__all__ = ["app", "comparing", "demo", "fit", "lists", "reproduce", "warming"]
