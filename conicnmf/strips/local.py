"""Strips of one machine: data are read ahead, and what is made is kept within a budget of memory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from conicnmf.strips.crew import DATA, Crew, Work, as_strip
from conicnmf.strips.matrix import Operand, Strips, made, scaled_strip
from conicnmf.strips.readers import Reader
from conicnmf.strips.tally import Combine, Stats, Tally
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
        """Let go of a matrix."""
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

    def _run(
        self,
        work: Work,
        operands: Sequence[Operand],
        key: int | None,
        combine: Combine,
        passing: bool,
    ) -> Tally:
        tally = Tally(combine)
        for k, strips in enumerate(self._loaded(operands)):
            kept, found = work(k, *strips)
            if key is not None:
                self._store.put(key, k, kept)
            tally.add(k, None if key is None else Stats.of(kept), found)
        return tally

    def _loaded(self, operands: Sequence[Operand]) -> Iterator[list[Data]]:
        """Yield the strips of all operands; data are read while the last ones are in use."""
        count = self.reader.count
        if all(key != DATA for key, _ in operands):
            yield from (self._strips(operands, k, None) for k in range(count))
            return
        with ThreadPoolExecutor(1) as pool:
            coming: Future[Data] | None = pool.submit(self.reader.load, 0)
            for k in range(count):
                assert coming is not None
                read = coming.result()
                coming = pool.submit(self.reader.load, k + 1) if k + 1 < count else None
                yield self._strips(operands, k, as_strip(read))

    def _strips(self, operands: Sequence[Operand], k: int, data: Data) -> list[Data]:
        once = self.reader.fresh and sum(key == DATA for key, _ in operands) == 1
        return [
            scaled_strip(data, scale, once)
            if key == DATA
            else scaled_strip(self._store.get(key, k), scale)
            for key, scale in operands
        ]

    def place(self, X: Any) -> Strips:
        """Keep a matrix of the user, strip by strip."""
        key, edges = next(self._keys), self.reader.edges
        tally = Tally(lambda one, other: None)
        for k in range(self.reader.count):
            strip = np.array(X[:, edges[k] : edges[k + 1]], self.data.dtype, order="C")
            self._store.put(key, k, strip)
            tally.add(k, Stats.of(strip), None)
        return made(self, key, tally.stats)

    def gather(self, matrix: Strips) -> Any:
        """Return a matrix in memory where it fits, else as a mapped file that goes with it."""
        size = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize
        whole = empty_matrix(matrix.shape, matrix.dtype, self._store.used + size <= self._limit)
        edges = self.reader.edges
        for k, (strip,) in enumerate(self._loaded([matrix.operand])):
            whole[:, edges[k] : edges[k + 1]] = strip
        return whole

    def with_weights(self, weights: Any) -> LocalCrew:
        """Return a crew that reads weights along with the data."""
        own = weights.tocsc() if hasattr(weights, "tocsc") else weights
        return LocalCrew(WeighedReader(self.reader, own), self._limit)

    def forget(self, key: int) -> None:
        """Let go of a matrix."""
        self._store.forget(key)

    def close(self) -> None:
        """Let go of everything that was made."""
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
