"""Who makes the runs of a study: processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeAlias

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from conicnmf.errors import InputError, require
from conicnmf.settings import Rule

Backend: TypeAlias = Annotated[
    Literal["loky", "threading", "dask"] | None,
    Rule(remedy='leave it out for processes, or use "dask" for the workers of a cluster'),
]
"""The ways of joblib to make runs side by side, as a setting."""

_LOCK = threading.Lock()
_INSIDE: list[threadpool_limits] = []
"""One entry for each run of this process; all hold the same limit, the last to leave lifts it."""


def job(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return `run` as joblib's `delayed` does, on one thread of linear algebra wherever it runs.

    Sums of another number of threads end in other digits, so the answer would depend on the number
    of processes, which share the threads.

    Examples
    --------
    >>> in_parallel(1)(job(abs)(number) for number in (-1, 2))
    [1, 2]
    """
    return lambda *given, **options: delayed(on_one_thread)(run, *given, **options)


def on_one_thread(run: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Call `run` on one thread of linear algebra."""
    with _one_thread():
        return run(*given, **options)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread while any run of this process is inside."""
    with _LOCK:
        _INSIDE.append(_INSIDE[0] if _INSIDE else threadpool_limits(1))
    try:
        yield
    finally:
        with _LOCK:
            limit = _INSIDE.pop()
            if not _INSIDE:
                limit.restore_original_limits()


def in_parallel(n_jobs: int, backend: Backend = None, **options: Any) -> Parallel:
    """Return joblib's pool; with Dask all workers of the current client take part.

    Examples
    --------
    >>> in_parallel(1)(job(abs)(number) for number in (-1, 2))
    [1, 2]
    """
    if backend is None:
        return Parallel(n_jobs=n_jobs, **options)
    if backend == "dask":
        distributed = require("distributed", "dask", "runs on a cluster need")
        try:
            distributed.Client.current()
        except ValueError:
            raise InputError(
                'backend="dask" needs a cluster, got no client; open one first, '
                "client = dask.distributed.Client()"
            ) from None
        n_jobs = -1 if n_jobs == 1 else n_jobs
    with parallel_config(backend=backend, n_jobs=n_jobs):
        return Parallel(**options)
