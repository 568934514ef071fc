"""The command line: ``conicnmf demo``, fit, compare, report, explain, reproduce and others."""

from __future__ import annotations

from conicnmf.cli import again, comparing, demo, fit, lists, reproduce, warming
from conicnmf.cli._app import app

__all__ = ["again", "app", "comparing", "demo", "fit", "lists", "reproduce", "warming"]
