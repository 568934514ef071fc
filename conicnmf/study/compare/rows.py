"""The rows of a comparison's table: one a run, whatever became of it."""

from __future__ import annotations

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
