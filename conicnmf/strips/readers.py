"""Readers of data that are not in memory: how many columns there are, and any strip of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from conicnmf.errors import ConicNMFError, InputError, require
from conicnmf.types import Data


@contextmanager
def readable(source: Any) -> Iterator[None]:
    """Say which source of data is damaged, whatever its reader raises inside.

    Examples
    --------
    >>> with readable("V.npy"):
    ...     raise ValueError("mmap length is greater than file size")
    Traceback (most recent call last):
    conicnmf.errors.InputError: V cannot be read from V.npy: mmap length is greater than file size; ...
    """
    try:
        yield
    except (ConicNMFError, MemoryError):
        raise
    except Exception as error:
        where = source if isinstance(source, (str, Path)) else type(source).__name__
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"V cannot be read from {where}: {why}; check how it was written, or load V yourself"
        ) from error


@dataclass(frozen=True, eq=False)
class Reader(ABC):
    """A matrix, features × samples, of which `load` brings one strip of columns into memory."""

    fresh: ClassVar[bool] = True
    """Whether what `load` returns is a copy that nothing else refers to."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The shape of the whole matrix."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored numbers."""

    @property
    @abstractmethod
    def edges(self) -> tuple[int, ...]:
        """Where strips begin, and where the last one ends."""

    @abstractmethod
    def load(self, k: int) -> Data:
        """Return strip k."""

    @property
    def count(self) -> int:
        """The number of strips."""
        return len(self.edges) - 1


def even_edges(columns: int, width: int) -> tuple[int, ...]:
    """Return where strips of at most so many columns begin and end.

    Examples
    --------
    >>> even_edges(5, 2)
    (0, 2, 4, 5)
    """
    return (*range(0, columns, max(1, width)), columns)


@dataclass(frozen=True, eq=False)
class SlicedReader(Reader):
    """Anything with a shape and columns to slice: a mapped file, or an array of Zarr."""

    array: Any
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the array."""
        return int(self.array.shape[0]), int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        own: np.dtype[Any] = np.dtype(self.array.dtype)
        return own

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """Strips of equal width."""
        return even_edges(self.shape[1], self.width)

    def load(self, k: int) -> Data:
        """Return a copy of a strip, so that what is computed on does not wait for the disk."""
        with readable(self.array):
            return np.array(self.array[:, self.edges[k] : self.edges[k + 1]], order="C")


@dataclass(frozen=True, eq=False)
class FolderReader(Reader):
    """A folder of .npy files, features × some samples each, side by side in the order of names."""

    files: tuple[Path, ...]

    @classmethod
    def of(cls, folder: Path) -> FolderReader:
        """Return the reader of all .npy files of a folder."""
        files = tuple(sorted(folder.glob("*.npy")))
        if not files:
            raise InputError(
                f"{folder} must have .npy files in it, got none; save strips of V there"
            )
        found = cls(files)
        for file, strip in zip(files, found._mapped, strict=True):
            if strip.ndim != 2 or strip.shape[0] != found._mapped[0].shape[0]:
                raise InputError(
                    f"{file} must have {found._mapped[0].shape[0]} rows as {files[0].name} has, got "
                    f"shape {strip.shape}; files hold all features of some samples"
                )
        return found

    @cached_property
    def _mapped(self) -> tuple[Any, ...]:
        return tuple(np.load(file, mmap_mode="r", allow_pickle=False) for file in self.files)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of any file, columns of all of them."""
        return int(self._mapped[0].shape[0]), self.edges[-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that holds the numbers of all files."""
        return np.result_type(*(strip.dtype for strip in self._mapped))

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """A strip a file."""
        return (0, *(int(end) for end in np.cumsum([strip.shape[1] for strip in self._mapped])))

    def load(self, k: int) -> Data:
        """Return a file in memory."""
        return np.array(self._mapped[k], order="C")


@dataclass(frozen=True, eq=False)
class ParquetReader(Reader):
    """A Parquet file with a sample in each row and a feature in each column, as frames have them."""

    path: Path
    width: int

    @cached_property
    def _groups(self) -> tuple[list[list[int]], list[int], list[np.dtype[Any]], int]:
        """Row groups that make a strip each, rows of each strip, types, and number of features."""
        with self._open() as file:
            about, schema = file.metadata, file.schema_arrow
            strips: list[list[int]] = []
            rows: list[int] = []
            for group in range(about.num_row_groups):
                size = about.row_group(group).num_rows
                if not rows or rows[-1] + size > self.width:
                    strips.append([])
                    rows.append(0)
                strips[-1].append(group)
                rows[-1] += size
            kinds = [np.dtype(kind.to_pandas_dtype()) for kind in schema.types]
        return strips, rows, kinds, len(kinds)

    def _open(self) -> Any:
        return require("pyarrow.parquet", "storage", "reading Parquet needs").ParquetFile(self.path)

    @property
    def shape(self) -> tuple[int, int]:
        """Columns of the file, rows of all its groups."""
        return self._groups[3], self.edges[-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that holds the numbers of all columns."""
        return np.result_type(*self._groups[2])

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """Row groups, several where they are small."""
        return (0, *(int(end) for end in np.cumsum(self._groups[1])))

    def load(self, k: int) -> Data:
        """Return some row groups, transposed."""
        with readable(self.path), self._open() as file:
            table = file.read_row_groups(self._groups[0][k])
            return np.stack([column.to_numpy() for column in table.columns]).astype(self.dtype)
