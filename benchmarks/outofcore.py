"""A file larger than the memory limit: peak memory, and how time grows with the number of columns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import conicnmf as cn
from benchmarks.harness import Row, Setup, clock
from benchmarks.scale import FEATURES, RANK, WIDTH, Peak, block, seconds_a_step

LIMIT, EXPONENT = "500MB", 1.1
SIZES = (100_000, 300_000, 1_000_000, 3_000_000)


def run(setup: Setup) -> Iterator[Row]:
    sizes = SIZES[:3] if setup.quick else SIZES
    seconds, rise = [], 0.0
    for columns in sizes:
        spent, peak = step(columns)
        seconds.append(spent)
        rise = max(rise, peak)
    data = 4.0 * FEATURES * sizes[-1]
    yield Row(
        f"{sizes[-1]:,} columns, a limit of {LIMIT}",
        f"{rise / 1e6:.0f} MB",
        f"{data / 1e6:.0f} MB",
        rise / 5e8,
        target="≤ 1",
        ok=rise <= 5e8,
        note="rise of the peak of anonymous memory; the size of the file",
    )
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    yield Row(
        f"{sizes[0]:,} to {sizes[-1]:,} columns",
        clock(seconds[-1]),
        clock(seconds[0]),
        slope,
        target=f"≤ {EXPONENT}",
        ok=slope <= EXPONENT,
        note="the ratio is the exponent; processor time of a step",
    )


def step(columns: int) -> tuple[float, float]:
    """Return the processor seconds of a step from a mapped file, and by how much memory rises."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "V.npy"
        V = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(FEATURES, columns))
        width = min(columns, WIDTH)
        for k in range(columns // width):
            V[:, k * width : (k + 1) * width] = block(width, np.float32, k)
        V.flush()
        del V
        problem = cn.factorize(path, RANK, memory_limit=LIMIT)
        with Peak() as peak:
            seconds, _ = seconds_a_step(problem, time.process_time)
    return seconds, peak.rise
