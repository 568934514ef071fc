"""What the rows on large data share: generated blocks, workers that are processes, and meters."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import conicnmf as cn
from conicnmf.types import Array

FEATURES, RANK, WIDTH = 100, 10, 50_000
STEPS = 3


def block(width: int, dtype: Any, k: int) -> Array:
    """Return columns of a matrix of rank ten with noise; any process makes the same."""
    W = np.random.default_rng(5).random((FEATURES, RANK))
    rng = np.random.default_rng([6, k])
    V = W @ rng.random((RANK, width)) + 0.1 * rng.random((FEATURES, width))
    return np.ascontiguousarray(V, dtype=dtype)


def lazy(columns: int, dtype: Any = np.float32, width: int = WIDTH) -> Any:
    """Return the matrix as a Dask array whose chunks are made by the workers."""
    import dask.array as da
    from dask import delayed

    width = min(width, columns)
    parts = [
        da.from_delayed(delayed(block)(width, dtype, k), (FEATURES, width), dtype)
        for k in range(columns // width)
    ]
    return da.concatenate(parts, axis=1)


def whole(columns: int, dtype: Any = np.float32, width: int = WIDTH) -> Array:
    """Return the same in memory."""
    width = min(width, columns)
    return np.hstack([block(width, dtype, k) for k in range(columns // width)])


@contextmanager
def workers(count: int) -> Iterator[Any]:
    """Start workers that are processes with one thread each, set up as docs/large.md says."""
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "n_workers": count,
        "threads_per_worker": 1,
        "dashboard_address": "localhost:0",
        "silence_logs": 50,
        "memory_limit": 0,
    }
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}),
        LocalCluster(**settings) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        client.wait_for_workers(count)
        yield client


@dataclass(eq=False)
class Traffic:
    """Counts what a solve sends to workers and brings back."""

    numbers: float = 0.0
    questions: int = 0
    _own: Any = field(default=None)

    def __enter__(self) -> Traffic:
        from conicnmf.strips.cluster.team import Team

        self._own = Team.asked

        def asked(team: Any, posts: Any, method: str, *args: Any) -> Any:
            answers = self._own(team, posts, method, *args)
            if method != "run":  # H is brought home once, at the end
                return answers
            self.questions += 1
            self.numbers += (len(posts) * len(pickle.dumps(args)) + len(pickle.dumps(answers))) / 8
            return answers

        Team.asked = asked  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        from conicnmf.strips.cluster.team import Team

        Team.asked = self._own  # type: ignore[method-assign]


def anonymous(pid: int | None = None) -> float:
    """Return the bytes that a process has for itself, without files that are mapped."""
    with open(f"/proc/{pid or os.getpid()}/status") as file:
        return 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))


@dataclass(eq=False)
class Peak:
    """Looks at the memory of processes while something runs; how much it rises at most."""

    pids: tuple[int, ...] = ()
    rise: float = 0.0

    def __enter__(self) -> Peak:
        self._over = threading.Event()
        self._before = {pid: anonymous(pid) for pid in self.pids or (os.getpid(),)}
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.01):
            rises = [anonymous(pid) - before for pid, before in self._before.items()]
            self.rise = max(self.rise, *rises)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def pids_of(client: Any) -> tuple[int, ...]:
    """Return the processes of the workers."""
    return tuple(client.run(os.getpid).values())


def seconds_a_step(
    problem: cn.Problem, clock: Callable[[], float], steps: int = STEPS
) -> tuple[float, cn.Result]:
    """Return the seconds of one iteration: those of some more, without what comes before them."""
    times: list[float] = []

    def watch(iteration: Any, factors: object) -> None:
        if iteration.iteration in (1, steps + 1):  # to ask workers for their time costs some
            times.append(clock())

    result = problem.solve(cn.HALS(), stop=steps + 1, seed=1, callback=watch)
    return (times[-1] - times[0]) / steps, result


def clock_of(client: Any, wall: bool) -> Callable[[], float]:
    """Return a clock: wall time, or the processor time of all workers and this process."""
    if wall:
        return time.perf_counter
    return partial(_processor_time, client)


def _processor_time(client: Any) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())
