"""Large data: seconds and bytes of one step from 1000 to ten million columns, and a model of them.

`python -m benchmarks.how_large [largest exponent]` prints the tables of docs/large.md.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import conicnmf as cn
from benchmarks.outofcore import step
from benchmarks.scale import (
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
from conicnmf.types import Array

WORKERS = 2
IN_MEMORY = 10**6
"""As many columns as one process is asked to hold."""


def on_workers(columns: int, client: Any) -> dict[str, float]:
    """Return what a step costs on a cluster."""
    problem = cn.factorize(lazy(columns), RANK)
    with Traffic() as moved, Peak(pids_of(client)) as peak:
        seconds, result = seconds_a_step(problem, clock_of(client, wall=False))
        del result
    return {
        "workers": seconds,
        "questions": moved.questions,
        "kilobytes": moved.numbers * 8 / 1e3 / (STEPS + 1),
        "memory": peak.rise / 1e6,
    }


def out_of_core(columns: int) -> dict[str, float]:
    """Return what a step costs from a mapped file within 500 MB."""
    seconds, rise = step(columns)
    return {"disk": seconds, "disk memory": rise / 1e6}


def in_memory(columns: int) -> dict[str, float]:
    """Return what a step costs in one process."""
    if columns > IN_MEMORY:
        return {"memory step": np.nan}
    seconds, _ = seconds_a_step(cn.factorize(whole(columns), RANK), time.process_time)
    return {"memory step": seconds}


def latency(client: Any) -> float:
    """Return the seconds from a question to all workers until their answers are there."""
    problem = cn.factorize(lazy(1000), RANK)
    wall, _ = seconds_a_step(problem, time.perf_counter, steps=30)
    return wall


def fitted(columns: Array, seconds: Array) -> tuple[float, float]:
    """Return (fixed, a column) of seconds ≈ fixed + columns · a column, by relative errors."""
    A = np.column_stack([np.ones_like(columns), columns]) / seconds[:, None]
    fixed, slope = np.linalg.lstsq(A, np.ones_like(seconds), rcond=None)[0]
    return float(max(fixed, 0.0)), float(slope)


def main(largest: int = 7) -> None:
    """Measure, and print tables."""
    sizes = [10**e for e in range(3, largest + 1)]
    rows = []
    with workers(WORKERS) as client:
        cn.factorize(lazy(1000), RANK).solve(cn.HALS(), stop=2)
        for columns in sizes:
            found = on_workers(columns, client)
            rows.append({"columns": columns} | found | out_of_core(columns) | in_memory(columns))
            print(rows[-1], file=sys.stderr, flush=True)
        step = latency(client)
    print("| columns | one array | mapped file | two workers | moved | memory of a worker |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        one = "–" if np.isnan(row["memory step"]) else f"{1e3 * row['memory step']:.3g} ms"
        print(
            f"| {row['columns']:,} | {one} | {1e3 * row['disk']:.3g} ms | "
            f"{1e3 * row['workers']:.3g} ms | {row['kilobytes']:.3g} kB | {row['memory']:.0f} MB |"
        )
    sizes_, seconds = (np.array([row[key] for row in rows]) for key in ("columns", "workers"))
    fixed, slope = fitted(sizes_.astype(float), seconds)
    print(
        f"processor seconds a step = {fixed:.3g} + {slope:.3g} · columns; wall {step:.3g} s at least"
    )
    for count in (8, 64):
        print(
            f"predicted, 10⁸ columns on {count} workers: {step + slope * 1e8 / count:.3g} s a step"
        )


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]))
