"""The time by which a solve has to end, known to everything that works for it.

It is one for the start, the sweeps and every backend that they try: none of them is given the whole
time again, and a solve inside another ends with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Set the time on `time.perf_counter` by which what is done inside has to end.

    Examples
    --------
    >>> with until(time.perf_counter() + 60):
    ...     59 < seconds_left() <= 60, is_late()
    (True, False)
    >>> seconds_left()
    inf
    """
    token = _DEADLINE.set(min(deadline, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float:
    """Return the seconds until the deadline, infinite without one and never below zero."""
    deadline = _DEADLINE.get()
    return deadline if deadline == math.inf else max(0.0, deadline - time.perf_counter())


def is_late() -> bool:
    """Whether no time is left."""
    return seconds_left() == 0.0
