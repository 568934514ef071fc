"""What a worker of the cluster has: its strips of the data and of all that was made of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import frexp
from typing import Any, TypeAlias

import numpy as np

from conicnmf.kernels.threads import threads
from conicnmf.strips.asked import DATA, Task
from conicnmf.strips.matrix import Visit, scaled_strip
from conicnmf.strips.tally import Branch, Stats, Tally
from conicnmf.types import Array, Data

Answer: TypeAlias = tuple[bool, Any]
"""Whether all went well, and what was found, or what was raised."""


class Holder:
    """Some strips and the work on them; it lives as an actor in the process of a worker.

    What work raises is returned: whatever else is raised tells of the cluster.

    Examples
    --------
    >>> holder = Holder((0, 2), np.eye(2), np.ones((2, 3)))
    >>> def work(k, strip):
    ...     return 2 * strip, (strip.sum(),)
    >>> doubled = Task(work, [(DATA, None)], lambda a, b: a + b, 1)
    >>> _, (branches,) = holder.run(packed([doubled]))
    >>> [(branch.first, branch.total) for branch in branches]
    [(0, (np.float64(2.0),)), (2, (np.float64(6.0),))]
    >>> holder.strips(1)[2].sum()
    np.float64(12.0)
    """

    def __init__(self, ks: Sequence[int], *blocks: Data) -> None:
        self._strips: dict[int, dict[int, Data]] = {DATA: dict(zip(ks, blocks, strict=True))}
        self._scales = dict.fromkeys(ks, 1.0)
        self._owned: set[int] = set()
        self._threads = _threads_here()

    def run(self, packed: bytes, gone: Sequence[int] = (), only: int | None = None) -> Answer:
        """Do tasks on the strips in their order, one of them or all; forget matrices that are gone."""
        from distributed.protocol.pickle import loads

        self.forget(gone)
        try:
            tasks = loads(packed)
            with threads(self._threads):
                return True, self._branches(tasks if only is None else tasks[only : only + 1])
        except Exception as error:
            return False, _that_travels(error)

    def _branches(self, tasks: Sequence[Task]) -> list[list[Branch]]:
        tallies = [Tally(task.combine) for task in tasks]
        made = {task.key: self._strips.setdefault(task.key, {}) for task in tasks if task.key}
        for k in self._strips[DATA]:
            visit = Visit(partial(self._seen, k))
            for task, tally in zip(tasks, tallies, strict=True):
                kept, found = task.work(k, *visit.strips(task.operands))
                if task.key is not None:
                    made[task.key][k] = _owned(kept)
                tally.add(k, None if task.key is None else Stats.of(kept), found)
        return [tally.branches for tally in tallies]

    def _seen(self, k: int, key: int, scale: Any) -> Data:
        """Return a strip as its matrix sees it; data stay in the units in which they were asked for."""
        strip = self._strips[key][k]
        if key != DATA:
            return scaled_strip(strip, scale)
        factor = (1.0 if scale is None else float(scale)) / self._scales[k]
        if frexp(factor)[0] != 0.5:  # only powers of two leave all digits as they are
            return scaled_strip(self._seen(k, DATA, None), scale)
        if factor != 1:
            # The first time it is a copy: the block may be the user's own array.
            strip = scaled_strip(strip, strip.dtype.type(factor), k in self._owned)
            self._owned.add(k)
            self._strips[DATA][k] = strip
            self._scales[k] *= factor
        return strip

    def put(self, key: int, strips: dict[int, Array]) -> Answer:
        """Take the strips of a matrix."""
        self._strips[key] = dict(strips)
        return True, None

    def strips(self, key: int) -> dict[int, Data]:
        """Return the strips of a matrix."""
        return self._strips[key]

    def sent(self, key: int) -> Answer:
        """Send the strips of a matrix."""
        if key == DATA:
            return True, {k: self._seen(k, DATA, None) for k in self._strips[DATA]}
        return True, self._strips[key]

    def forget(self, keys: Sequence[int]) -> Answer:
        """Release matrices."""
        for key in keys:
            self._strips.pop(key, None)
        return True, None


def packed(tasks: Sequence[Task]) -> bytes:
    """Return tasks as bytes, once for all workers; functions without a module's name go as code."""
    from distributed.protocol.pickle import dumps

    found: bytes = dumps(tuple(tasks))
    return found


def _owned(strip: Any) -> Array:
    """Return a strip that does not keep a larger array alive."""
    return np.ascontiguousarray(strip) if strip.base is None else np.array(strip, order="C")


def _threads_here() -> int | None:
    """Return how many threads the worker has, nothing outside of one."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return None


def _that_travels(error: Exception) -> Exception:
    from distributed.protocol.pickle import dumps

    try:
        dumps(error)
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
