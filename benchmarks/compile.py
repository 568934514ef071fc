"""Compiling all kernels in a new environment: by `warm_up`, one by one, and loading them again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator

from benchmarks.harness import Row, Setup, clock, fresh_process
from conicnmf.families.warm_up import first_calls
from conicnmf.geometry.first_calls import compiled_at_once

_PARALLEL = "import json, conicnmf; print(json.dumps(conicnmf.warm_up(2)))"
_ONE_BY_ONE = "import json; from benchmarks.compile import timed; print(json.dumps(timed()))"


def run(setup: Setup) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        both = fresh_process(_PARALLEL, NUMBA_CACHE_DIR=folder)
        again = sum(fresh_process(_ONE_BY_ONE, NUMBA_CACHE_DIR=folder).values())
    with tempfile.TemporaryDirectory() as folder:
        single = fresh_process(_ONE_BY_ONE, NUMBA_CACHE_DIR=folder)
    note = "wall time, with the start of the processes"
    yield Row("empty cache, two processes", clock(both), target="≤ 20 s", ok=both <= 20, note=note)
    parts = ", ".join(f"{name} {clock(seconds)}" for name, seconds in single.items())
    yield Row("empty cache, one process", clock(sum(single.values())), note=parts)
    yield Row("full cache", clock(again), target="≤ 1 s", ok=again <= 1)


def timed() -> dict[str, float]:
    """Return how much longer the first calls of each group take than the second ones."""
    extra = {}
    for name, calls in first_calls().items():
        times = [time.perf_counter()]
        for _ in range(2):
            with compiled_at_once():
                for call in calls:
                    call()
            times.append(time.perf_counter())
        extra[name] = (times[1] - times[0]) - (times[2] - times[1])
    return extra
