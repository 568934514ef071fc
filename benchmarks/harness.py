"""What every benchmark shares: interleaved timing, rows with targets, pinned threads."""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from conicnmf import datasets
from conicnmf.errors import InputError
from conicnmf.geometry.first_calls import compiled_at_once
from conicnmf.types import Data

_SHORTEST = 0.02
"""Work that takes fewer seconds is called several times for one measurement."""
LONG = 15.0
"""Work that takes more seconds is timed once, and counts as the same in every turn."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured ratio and its target.

    `ok` is None where there is nothing to judge: a skipped case, or a ratio without a target.
    """

    case: str
    ours: str = ""
    theirs: str = ""
    ratio: float = math.nan
    spread: float = math.nan
    target: str = ""
    ok: bool | None = None
    note: str = ""
    id: str = ""


@dataclass
class Runs:
    """The repeated runs of one side: seconds, what was returned, and the first call apart."""

    seconds: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    first: float = math.nan

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return float(np.median(self.seconds))


class SkippedError(Exception):
    """A case that cannot be run here, with the reason."""


@contextmanager
def pinned(threads: int = 1) -> Iterator[None]:
    """Give BLAS, OpenMP and the package's own kernels the same number of threads."""
    before, numba.config.NUMBA_NUM_THREADS = numba.config.NUMBA_NUM_THREADS, threads
    try:
        with threadpool_limits(threads):
            yield
    finally:
        numba.config.NUMBA_NUM_THREADS = before


def dataset(name: str, **options: Any) -> Data:
    """Return the matrix of a data set, or skip the case when it is not on this machine."""
    try:
        return datasets.load(name, **options).V
    except (InputError, OSError) as error:
        raise SkippedError(str(error).splitlines()[0]) from error


def guarded(case: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows; one that says why when the case has to be skipped."""
    try:
        yield from rows
    except SkippedError as reason:
        yield Row(case, note=f"skipped: {reason}")


@dataclass(frozen=True)
class Setup:
    """How a run measures.

    Parameters
    ----------
    quick : bool
        Fewer cases, one repeat and shorter budgets; the sizes stay.
    timer : callable
        The clock. With one thread each, processor time says the same as wall time on an idle
        machine, and other processes disturb it less.
    """

    quick: bool = False
    timer: Callable[[], float] = time.perf_counter

    def budget(self, seconds: float) -> Callable[[], bool]:
        """Return what says whether so many seconds of the clock have passed from now on."""
        end = self.timer() + seconds
        return lambda: self.timer() > end

    def race(
        self,
        sides: Mapping[str, Callable[[int], Any]],
        repeats: int = 3,
        warm: Sequence[str] = (),
        once: Sequence[str] = (),
    ) -> dict[str, Runs]:
        """Time the sides in turn, `repeats` times over; each is called with the repeat's number.

        The sides in `warm` are called twice before: the first call, which may compile, is kept
        apart, the second says how many calls make a measurable time. Those in `once` are timed once,
        which is enough for a bound.
        """
        runs = {name: Runs() for name in sides}
        calls = dict.fromkeys(sides, 1)
        for name in warm:
            with compiled_at_once():
                runs[name].first, _ = self._timed(sides[name], 0, 1)
            again, _ = self._timed(sides[name], 0, 1)
            calls[name] = math.ceil(_SHORTEST / max(again, 1e-7))
        for repeat in range(1 if self.quick else repeats):
            for name, work in sides.items():
                made = runs[name]
                if made.seconds and (name in once or made.seconds[-1] > LONG):
                    seconds, value = made.seconds[-1], made.values[-1]
                else:
                    seconds, value = self._timed(work, repeat, calls[name])
                made.seconds.append(seconds)
                made.values.append(value)
        return runs

    def _timed(self, work: Callable[[int], Any], repeat: int, calls: int) -> tuple[float, Any]:
        gc.collect()
        begin = self.timer()
        for _ in range(calls):
            value = work(repeat)
        return (self.timer() - begin) / calls, value


def speedup(
    case: str,
    ours: Runs,
    theirs: Runs,
    at_least: float | None = None,
    note: str = "",
    also: bool = True,
) -> Row:
    """Return how many times faster we are, by the median over the repeats, and its spread.

    `also` is a further condition for the target, such as equal objectives.
    """
    ratios = np.divide(theirs.seconds, ours.seconds)
    ratio = float(np.median(ratios))
    return Row(
        case,
        clock(ours.median),
        clock(theirs.median),
        ratio,
        float(np.ptp(ratios) / ratio),
        "" if at_least is None else f"≥ {at_least:g}",
        None if at_least is None else ratio >= at_least and also,
        note,
    )


def clock(seconds: float) -> str:
    """Return seconds in a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def relative_gap(values: Sequence[float]) -> float:
    """Return the largest difference, relative to the smallest value."""
    return float(np.ptp(values) / np.min(np.abs(values)))


def fresh_process(code: str, **environment: str) -> Any:
    """Run code in a new interpreter, one thread each, and return the JSON it prints last."""
    settings = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | environment
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a benchmark's process failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_memory() -> float:
    """Return the largest number of bytes this process has held in memory so far.

    On Linux `getrusage` would begin with the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024.0 * int(peak.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
