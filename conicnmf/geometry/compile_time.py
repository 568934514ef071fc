"""The time that kernels take to be compiled, or read from disk, which is no time of the work itself."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class _Spent(threading.local):
    """The seconds that this thread has waited for compilers, and how many are at work in each other."""

    seconds: float = 0.0
    depth: int = 0


_SPENT = _Spent()


_LONG = 1.0
"""Seconds after which the log says what is being compiled."""
_LOG = logging.getLogger("conicnmf")


def timed(compiles: Callable[..., Any], name: str = "a kernel") -> Callable[..., Any]:
    """Return a function that compiles, and whose time is left out of `working_time`.

    Compilers make many objects and drop few: to look for garbage meanwhile takes a tenth of the time.
    """

    def run(*args: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        collects = gc.isenabled()
        notice = None if _SPENT.depth else threading.Timer(_LONG, _tell, [name])
        _SPENT.depth += 1
        try:
            gc.disable()
            if notice:
                notice.daemon = True
                notice.start()
            return compiles(*args, **options)
        finally:
            if collects:
                gc.enable()
            if notice:
                notice.cancel()
            _SPENT.depth -= 1
            if not _SPENT.depth:  # what a kernel calls is compiled within its own time
                _SPENT.seconds += time.perf_counter() - begin

    return run


def _tell(name: str) -> None:
    """Log what is being compiled, at a level that Python shows where somebody is waiting for it."""
    message = (
        "compiling %s, cached for later runs; conicnmf.warm_up() compiles everything in advance"
    )
    _LOG.log(logging.WARNING if _is_watched() else logging.INFO, message, name)


def _is_watched() -> bool:
    """Whether messages go to a terminal or to a notebook."""
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


def working_time() -> float:
    """Return `time.perf_counter` without what this thread has spent on compiling.

    Examples
    --------
    >>> working_time() <= time.perf_counter()
    True
    """
    return time.perf_counter() - _SPENT.seconds
