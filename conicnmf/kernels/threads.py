"""Work over columns in threads: how many, and which columns each takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Below about two milliseconds of work, starting threads costs more than they save.
_WORTH_THREADS = 5e5
_CHUNKS_PER_THREAD = 4
_THREADS: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Let work over columns inside take so many threads; None leaves what was said outside.

    Examples
    --------
    >>> with threads(2):
    ...     with threads(None):
    ...         _THREADS.get()
    2
    """
    token = _THREADS.set(_THREADS.get() if count is None else count)
    try:
        yield
    finally:
        _THREADS.reset(token)


def over_columns(run: Callable[[int, int], Any], columns: int, work: float) -> list[Any]:
    """Call run(start, stop) on ranges that cover all columns, in threads where that pays.

    The compiled kernels release the GIL. Plain threads, unlike a parallel compiler loop, survive
    a fork and may be started from several threads at once. Their number is that of `threads`, else
    NUMBA_NUM_THREADS.
    Columns do not see each other, so the split never changes the answer. `work` is the rough
    number of multiplications. The results come back in the order of the columns.

    Examples
    --------
    >>> over_columns(lambda start, stop: stop - start, 10, work=0)
    [10]
    """
    count = min(_THREADS.get() or _default(), columns) if work >= _WORTH_THREADS else 1
    if count < 2:
        return [run(0, columns)]
    pieces = min(columns, count * _CHUNKS_PER_THREAD)
    edges = [columns * i // pieces for i in range(pieces + 1)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, edges[:-1], edges[1:]))


def _default() -> int:
    from numba import config  # which takes its time, and is loaded by the first kernel

    return int(config.NUMBA_NUM_THREADS)
