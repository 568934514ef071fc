"""One run of a comparison, in whichever process; nothing it does can end the others."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from conicnmf.errors import ConicNMFError, InputError
from conicnmf.geometry.first_calls import compiled_at_once
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result, Status
from conicnmf.solve.engine import solve
from conicnmf.solve.methods.base import AnySolver
from conicnmf.study.compare.rows import Row, Task, row_of, row_without
from conicnmf.study.compare.store import Store

_WARM: set[tuple[str, str]] = set()
_LONGEST_WARM_UP = 5.0


@dataclass(frozen=True, eq=False)
class Rules:
    """What is the same for all runs: start, stopping, time for one and for all, and the store."""

    init: Any = None
    stop: Any = None
    time_limit: float | None = None
    deadline: float | None = None
    store: Store | None = None

    def seconds_left(self) -> float:
        """Return the time until the budget is spent, by a clock that all processes share."""
        return float("inf") if self.deadline is None else self.deadline - time.time()


def run_single(
    task: Task, problem: BaseProblem, solver: AnySolver, rules: Rules
) -> tuple[Row, Result | None]:
    """Return the row of a run and its result, if there is one; the result is stored."""
    if rules.seconds_left() <= 0:
        return row_without(task, "NOT_RUN", "the budget was used up before this run started"), None
    try:
        reasons = solver.mismatches(problem)
        if reasons:
            return row_without(task, "SKIPPED", "; ".join(reasons)), None
        result, cut_off = _solved(problem, solver, task[2], rules)
    except Exception as error:  # a user's own term or solver may raise anything
        return row_without(task, "ERROR", _words(error)), None
    if result.interrupted and result.status.kind == "failed":
        raise KeyboardInterrupt  # there is nothing to show for it
    if result.status is Status.ERROR:
        return row_without(task, "ERROR", "; ".join(result.remarks)), None
    if cut_off:
        # It had less time than the others, so its numbers would not be fair.
        return row_without(task, "NOT_RUN", "the budget was used up during this run"), None
    # The problem is the caller's; sending or storing a copy with each run would be waste.
    result = result.detached()
    row = row_of(task, result)
    if rules.store is not None and not result.interrupted:
        try:
            rules.store.run(task).write(result)
        except InputError as error:  # a full disk must not cost the run itself
            row["reason"] = f"{row['reason']} It was not stored: {error}".strip()
    return row, result


def _solved(
    problem: BaseProblem, solver: AnySolver, seed: int, rules: Rules
) -> tuple[Result, bool]:
    """Return the result, and whether the budget ended it early."""
    given: dict[str, Any] = {"init": rules.init, "seed": seed, "throw": False}
    kind = (str(solver), repr(problem))
    if kind not in _WARM:  # compiling must not count as solving
        with compiled_at_once():
            first = solve(problem, solver, stop=1, time_limit=_LONGEST_WARM_UP, **given)
        if first.interrupted:
            return first, False
        _WARM.add(kind)
    left, own = rules.seconds_left(), rules.time_limit
    short = left < (float("inf") if own is None else own)
    limit = max(left, 0.0) if short else own
    result = solve(problem, solver, stop=rules.stop, time_limit=limit, **given)
    return result, short and result.status is Status.TIME_LIMIT


def _words(error: Exception) -> str:
    text = str(error) or "no message"
    return text if isinstance(error, ConicNMFError) else f"{type(error).__name__}: {text}"
