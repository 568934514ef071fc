"""One solve with `effort="normal"` against the best of 50 plain runs, 30 held-out sparse problems."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.grid import Case, cases
from benchmarks.harness import Row, Setup
from conicnmf.solve.choice import choose

STARTS, PROBLEMS = 50, 30


def run(setup: Setup) -> Iterator[Row]:
    """Measure the gap and the time of every problem, and judge their medians."""
    sparse = [case for case in cases("held_out") if case.has_basins]
    chosen = sparse[:: max(1, len(sparse) // PROBLEMS)][: 5 if setup.quick else PROBLEMS]
    gaps, times, alone = zip(*(_measure(case) for case in chosen), strict=True)
    gap, slower = float(np.median(gaps)), float(np.median(times))
    case = f"{len(chosen)} sparse problems, best of {STARTS} starts"
    yield Row(
        f"{case}: median gap",
        f"{gap:.2%}",
        ratio=gap,
        target="≤ 0.01",
        ok=gap <= 0.01,
        note=f"largest {max(gaps):.1%}; median of one plain run {float(np.median(alone)):.2%}",
    )
    yield Row(
        f"{case}: median time over one plain run",
        ratio=slower,
        target="≤ 20",
        ok=slower <= 20,
        note=f"largest {max(times):.3g}, processor time",
    )


def _measure(case: Case) -> tuple[float, float, float]:
    """Return the gap at normal effort, its time in plain runs, and the gap of a median run."""
    plain = choose(case.problem)[0]
    case.problem.solve(effort="normal", seed=case.seed, stop=2, throw=False)  # compiles
    begin = time.process_time()
    values = [
        case.problem.solve(plain, seed=case.seed + 1000 + start, throw=False).objective
        for start in range(STARTS)
    ]
    each = (time.process_time() - begin) / STARTS
    begin = time.process_time()
    raced = case.problem.solve(effort="normal", seed=case.seed, throw=False).objective
    took = (time.process_time() - begin) / each
    best = min(values)
    unit = abs(best) or 1.0
    return (raced - best) / unit, took, (float(np.median(values)) - best) / unit
