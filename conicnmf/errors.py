"""What is raised for wrong input: every message gives the rule, the value and the remedy."""

from __future__ import annotations

from typing import Any


class ConicNMFError(Exception):
    """Base of every error raised by the package."""


class InputError(ConicNMFError, ValueError):
    """The input breaks a stated rule."""


class ModelError(ConicNMFError, ValueError):
    """A model is outside the biconvex rules; the message names the sub-expression and the rule."""


class IncompatibleError(ConicNMFError, ValueError):
    """A solver does not fit a problem; the message lists every reason and the solvers that fit."""


class InfeasibleError(ConicNMFError, ValueError):
    """The constraints on a factor have no common point."""


class SolveError(ConicNMFError, RuntimeError):
    """A solve ended in a failure; `result` holds the best iterate seen."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result
