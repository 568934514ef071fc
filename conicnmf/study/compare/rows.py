"""The rows of a comparison's table: one a run, whatever became of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from conicnmf.results import Result, Status

Task = tuple[str, str, int]
"""A problem's name, a solver's name and a seed."""

Row = dict[str, Any]

NAMES = ("problem", "solver", "seed")
NUMBERS = ("objective", "relative_error", "violation", "seconds", "iterations")
COLUMNS = (*NAMES, *NUMBERS, "status", "reason")

NO_RESULT = ("SKIPPED", "ERROR", "NOT_RUN")
"""A pair that does not fit, a run that raised, and one that was not made or not finished."""

FAILED = (*NO_RESULT, *(s.name for s in Status if s.kind == "failed"))

INTERRUPTION = "interrupted from the keyboard"
UNFINISHED = ("NOT_RUN", Status.INTERRUPTED.name)


def told_unfinished(statuses: Iterable[str]) -> str:
    """Return how many runs were not finished, in words; nothing where all were.

    Examples
    --------
    >>> told_unfinished(["CONVERGED", "INTERRUPTED", "NOT_RUN"])
    'partial: 2 of 3 runs were not finished'
    """
    listed = list(statuses)
    missing = sum(status in UNFINISHED for status in listed)
    return f"partial: {missing} of {len(listed)} runs were not finished" if missing else ""


def row_of(task: Task, result: Result) -> Row:
    """Return the row of a finished run."""
    numbers = (
        result.objective,
        result.relative_error,
        result.max_violation,
        result.seconds,
        result.n_iter,
    )
    return {
        **dict(zip(NAMES, task, strict=True)),
        **dict(zip(NUMBERS, numbers, strict=True)),
        "status": result.status.name,
        "reason": result.status.value if result.status.kind == "failed" else "",
    }


def row_without(task: Task, status: str, reason: str) -> Row:
    """Return the row of a run without a result.

    Examples
    --------
    >>> row_without(("faces", "HALS", 0), "SKIPPED", "no projection")["objective"]
    nan
    """
    named = dict(zip(NAMES, task, strict=True))
    return {**named, **dict.fromkeys(NUMBERS, np.nan), "status": status, "reason": reason}
