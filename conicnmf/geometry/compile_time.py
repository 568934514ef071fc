"""The time that kernels take to be compiled, or read from disk, which is no time of the work itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


class _Spent(threading.local):
    """The seconds that this thread has waited for compilers, and how many are at work in each other."""

    seconds: float = 0.0
    depth: int = 0


_SPENT = _Spent()


def timed(compiles: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compiles, and whose time is left out of `working_time`."""

    def run(*args: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        _SPENT.depth += 1
        try:
            return compiles(*args, **options)
        finally:
            _SPENT.depth -= 1
            if not _SPENT.depth:  # what a kernel calls is compiled within its own time
                _SPENT.seconds += time.perf_counter() - begin

    return run


def working_time() -> float:
    """Return `time.perf_counter` without what this thread has spent on compiling.

    Examples
    --------
    >>> working_time() <= time.perf_counter()
    True
    """
    return time.perf_counter() - _SPENT.seconds
