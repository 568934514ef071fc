"""Dask arrays on two workers against one process: differences, extra work, and bytes moved."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import conicnmf as cn
from benchmarks.harness import Row, Setup, clock
from benchmarks.scale import (
    FEATURES,
    RANK,
    STEPS,
    Peak,
    Traffic,
    clock_of,
    lazy,
    pids_of,
    seconds_a_step,
    whole,
    workers,
)

COLUMNS, EQUAL, WIDTH = 1_000_000, 100_000, 25_000
WORKERS = 2
FIXED, FACTOR = 0.015, 1.3
COPIES = 4
"""Points of H that a solve with extrapolation holds: the iterate, the best, and two to look from."""


def run(setup: Setup) -> Iterator[Row]:
    columns = COLUMNS // 10 if setup.quick else COLUMNS
    with workers(WORKERS) as client:
        cn.factorize(lazy(1000), RANK).solve(cn.HALS(), stop=2)  # compiled where they are
        for dtype, limit in ((np.float64, 1e-8), (np.float32, 1e-4)):
            yield _equal(dtype, limit)
        yield from _costs(columns, client, setup)


def _equal(dtype: type, limit: float) -> Row:
    """Compare the factors after a few iterations from the same start."""
    rng = np.random.default_rng(3)
    start = rng.random((FEATURES, RANK)) + 0.1, rng.random((RANK, EQUAL)) + 0.1
    found, wanted = (
        cn.factorize(V, RANK).solve(cn.HALS(), init=start, stop=STEPS)
        for V in (lazy(EQUAL, dtype, WIDTH), whole(EQUAL, dtype, WIDTH))
    )
    far = max(
        float(np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max())
        for name in ("W", "H")
    )
    case = f"equal to one process, {np.dtype(dtype).name}, {EQUAL:,} columns"
    return Row(case, f"{far:.1e}", "", far, target=f"≤ {limit:g}", ok=far <= limit)


def _costs(columns: int, client: object, setup: Setup) -> Iterator[Row]:
    """Compare work, memory and traffic of a step."""
    wall = setup.timer is time.perf_counter
    one, _ = seconds_a_step(cn.factorize(whole(columns, width=WIDTH), RANK), setup.timer)
    problem = cn.factorize(lazy(columns, width=WIDTH), RANK)
    with Traffic() as moved, Peak(pids_of(client)) as peak:
        look, sums = clock_of(client, wall), list[float]()

        def at() -> float:
            sums.append(moved.numbers)
            return look()

        ours, _ = seconds_a_step(problem, at)
    allowed = FIXED + FACTOR * one
    yield Row(
        f"a step, {columns:,} columns",
        clock(ours),
        clock(one),
        ours / allowed,
        target="≤ 1",
        ok=ours <= allowed,
        note="the ratio is to 15 ms + 1.3 × the step of one process; "
        + ("wall time" if wall else "processor time of all processes"),
    )
    strip = 4.0 * FEATURES * WIDTH
    share = 4.0 * columns * (FEATURES + COPIES * RANK) / WORKERS
    yield Row(
        f"memory of a worker, {columns:,} columns",
        f"{peak.rise / 1e6:.0f} MB",
        f"{share / 1e6:.0f} MB",
        peak.rise / (share + 3 * strip),
        target="≤ 1",
        ok=peak.rise <= share + 3 * strip,
        note=f"the ratio is to its share of V and of {COPIES} points of H, and 3 blocks",
    )
    numbers = (sums[-1] - sums[0]) / STEPS
    limit = 3 * FEATURES * RANK * WORKERS
    yield Row(
        "numbers moved a step",
        f"{numbers:.0f}",
        f"{limit}",
        numbers / limit,
        target="≤ 1",
        ok=numbers <= limit,
        note=f"without the start, pickled bytes / 8; {moved.questions} questions of {STEPS + 1} steps "
        "and the start",
    )
