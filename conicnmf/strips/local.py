"""Strips of one machine: data are read ahead, and what is made is kept within a budget of memory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from conicnmf.strips.asked import DATA, Task
from conicnmf.strips.crew import Crew, as_strip
from conicnmf.strips.matrix import Operand, Strips, Visit, scaled_strip
from conicnmf.strips.readers import Reader
from conicnmf.strips.tally import Stats, Tally
from conicnmf.strips.weighed import WeighedReader
from conicnmf.types import Array, Data


class Store:
    """Strips by matrix and place: in memory as long as they fit, else in files that are mapped."""

    def __init__(self, limit: float) -> None:
        self.limit, self.used = limit, 0
        self._strips: dict[int, dict[int, Array]] = {}
        self._folder: Path | None = None

    def put(self, key: int, k: int, strip: Array) -> None:
        """Keep a strip."""
        if self.used + strip.nbytes > self.limit:
            strip = self._on_disk(f"{key}-{k}", strip)
        else:
            # Work may hand on what it was given, such as the memory of a larger array.
            strip = (
                np.ascontiguousarray(strip) if strip.base is None else np.array(strip, order="C")
            )
            self.used += strip.nbytes
        self._strips.setdefault(key, {})[k] = strip

    def get(self, key: int, k: int) -> Array:
        """Return a strip."""
        return self._strips[key][k]

    def forget(self, key: int) -> None:
        """Release a matrix."""
        for strip in self._strips.pop(key, {}).values():
            if isinstance(strip, np.memmap):
                Path(str(strip.filename)).unlink(missing_ok=True)
            else:
                self.used -= strip.nbytes

    def path(self, name: str) -> Path:
        """Return where to write an array; the folder is deleted when nothing refers to the store."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="conicnmf-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / f"{name}.npy"

    def _on_disk(self, name: str, strip: Array) -> Array:
        path = self.path(name)
        np.save(path, strip)
        mapped: Array = np.load(path, mmap_mode="r")
        return mapped


class LocalCrew(Crew):
    """One process that reads a strip while it works on the one before.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.strips.readers import SlicedReader
    >>> crew = LocalCrew(SlicedReader(np.eye(3), 2))
    >>> crew.data.total(np.sum)
    np.float64(3.0)
    """

    def __init__(self, reader: Reader, limit: float = np.inf) -> None:
        super().__init__(reader)
        self._limit = limit
        self._store = Store(limit)

    def _run(self, tasks: Sequence[Task]) -> list[Tally]:
        tallies = [Tally(task.combine) for task in tasks]
        for k, visit in enumerate(self._visits([own for task in tasks for own in task.operands])):
            for task, tally in zip(tasks, tallies, strict=True):
                kept, found = task.work(k, *visit.strips(task.operands))
                if task.key is not None:
                    self._store.put(task.key, k, kept)
                tally.add(k, None if task.key is None else Stats.of(kept), found)
        return tallies

    def _visits(self, operands: Sequence[Operand]) -> Iterator[Visit]:
        """Yield places one after the other; data are read while the last ones are in use."""
        count = self.reader.count
        scales = {id(scale) for key, scale in operands if key == DATA}
        if not scales:
            yield from (Visit(partial(self._seen, k, None, False)) for k in range(count))
            return
        own = self.reader.fresh and len(scales) == 1
        with ThreadPoolExecutor(1) as pool:
            coming: Future[Data] | None = pool.submit(self.reader.load, 0)
            for k in range(count):
                assert coming is not None
                read = coming.result()
                coming = pool.submit(self.reader.load, k + 1) if k + 1 < count else None
                yield Visit(partial(self._seen, k, as_strip(read), own))

    def _seen(self, k: int, data: Data | None, own: bool, key: int, scale: Any) -> Data:
        if key != DATA:
            return scaled_strip(self._store.get(key, k), scale)
        found: Data = scaled_strip(data, scale, own)
        return found

    def place(self, X: Any) -> Strips:
        """Keep a matrix of the user, strip by strip."""
        key, edges = next(self._keys), self.reader.edges
        tally = Tally(lambda one, other: None)
        for k in range(self.reader.count):
            strip = np.array(X[:, edges[k] : edges[k + 1]], self.data.dtype, order="C")
            self._store.put(key, k, strip)
            tally.add(k, Stats.of(strip), None)
        return self._placed(key, tally)

    def gather(self, matrix: Strips) -> Any:
        """Return a matrix in memory where it fits, else as a mapped file that goes with it."""
        size = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize
        whole = empty_matrix(matrix.shape, matrix.dtype, self._store.used + size <= self._limit)
        edges = self.reader.edges
        for k, visit in enumerate(self._visits([matrix.operand])):
            (whole[:, edges[k] : edges[k + 1]],) = visit.strips([matrix.operand])
        return whole

    def with_weights(self, weights: Any) -> LocalCrew:
        """Return a crew that reads weights along with the data."""
        own = weights.tocsc() if hasattr(weights, "tocsc") else weights
        return LocalCrew(WeighedReader(self.reader, own), self._limit)

    def forget(self, key: int) -> None:
        """Release a matrix."""
        self._store.forget(key)

    def close(self) -> None:
        """Release everything that was made."""
        self._store = Store(self._limit)


def empty_matrix(shape: tuple[int, int], dtype: Any, fits: bool) -> Any:
    """Return space for a matrix: in memory where it fits, else a mapped file that is deleted with it.

    Examples
    --------
    >>> type(empty_matrix((2, 3), np.float64, False)).__name__
    'memmap'
    """
    if fits:
        return np.empty(shape, dtype)
    home = Store(0)
    whole = np.lib.format.open_memmap(home.path("H"), mode="w+", dtype=dtype, shape=shape)
    weakref.finalize(whole, _let_go, [home])
    return whole


def _let_go(held: list[Store]) -> None:
    held.clear()
