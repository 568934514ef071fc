"""Who makes the runs of a study: processes of this machine, or the workers of a cluster."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from joblib import Parallel, parallel_config

from conicnmf.errors import InputError, require
from conicnmf.settings import Rule

Backend: TypeAlias = Annotated[
    Literal["loky", "threading", "dask"] | None,
    Rule(remedy='leave it out for processes, or use "dask" for the workers of a cluster'),
]
"""The ways of joblib to make runs side by side, as a setting."""


def in_parallel(n_jobs: int, backend: Backend = None, **options: Any) -> Parallel:
    """Return joblib's pool; with Dask all workers of the current client take part.

    Examples
    --------
    >>> from joblib import delayed
    >>> in_parallel(1)(delayed(abs)(number) for number in (-1, 2))
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
