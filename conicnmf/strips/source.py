"""What counts as data that are too large for memory, and who reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from conicnmf.errors import InputError, require
from conicnmf.incoming import is_lazy, require_loaded
from conicnmf.settings import shown
from conicnmf.strips.crew import Crew
from conicnmf.strips.local import LocalCrew
from conicnmf.strips.readers import FolderReader, ParquetReader, Reader, SlicedReader, readable

_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PARTS = 16
"""Two strips of data are in memory, with what is computed from one; each is this part of the limit."""
_WIDEST = 64e6
"""Bytes of a strip beyond which it only takes more memory."""
_USUAL = 2e9


def is_large(V: Any, memory_limit: Any = None) -> bool:
    """Whether data are in strips: a path, what is not computed yet, or whatever has a limit.

    Examples
    --------
    >>> is_large(np.eye(2)), is_large("folder"), is_large(np.eye(2), "1GB")
    (False, True, True)
    """
    return memory_limit is not None or isinstance(V, (str, Path)) or is_lazy(V)


def as_source(V: Any, memory_limit: Any = None) -> Crew:
    """Return the crew of data that are too large for memory.

    Examples
    --------
    >>> as_source(np.ones((4, 6)), "3KB").reader.edges
    (0, 5, 6)
    """
    limit = _USUAL if memory_limit is None else as_bytes(memory_limit)
    if is_lazy(V) and type(V).__module__.partition(".")[0] == "dask":
        return _cluster(V, memory_limit, limit)
    require_loaded(V, "V")
    with readable(V):
        reader = _reader(V, limit)
        kind = reader.dtype
    if kind.kind not in "fiub":
        raise InputError(
            f"V must hold real numbers, got dtype {kind}; convert it with .astype(float)"
        )
    return LocalCrew(reader, limit / 2)


def _cluster(V: Any, memory_limit: Any, limit: float) -> Crew:
    """Return the crew of a Dask array: workers, or this process where that has a limit alone."""
    distributed = require("distributed", "dask", "factorizing Dask arrays needs")
    from conicnmf.strips.cluster import DaskCrew, DaskReader

    reader = DaskReader.of(V)
    if memory_limit is None:
        return DaskCrew(reader, limit)
    try:
        distributed.Client.current()
    except ValueError:
        return LocalCrew(reader, limit / 2)
    return DaskCrew(reader, limit)


def as_bytes(limit: Any) -> float:
    """Return a number of bytes from a number or a text.

    Examples
    --------
    >>> as_bytes("1.5 MB"), as_bytes(2000)
    (1500000.0, 2000.0)
    """
    number = isinstance(limit, (int, float)) and limit > 0
    text = f"{limit}B" if number else limit if isinstance(limit, str) else ""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B\s*", text, re.IGNORECASE)
    if found is None or not float(found[1]):
        raise InputError(
            f'memory_limit must be a positive number of bytes, got {shown(limit)}; try "2GB"'
        )
    return float(found[1]) * _UNITS[found[2].upper()]


def _reader(V: Any, limit: float) -> Reader:
    array: Any = V
    if isinstance(V, (str, Path)):
        path = Path(V)
        if not path.exists():
            raise InputError(f"V is read from {path}, which does not exist; check the path")
        if path.suffix in (".parquet", ".pq"):
            rows = ParquetReader(path, 1).shape[0]
            return ParquetReader(path, _width(rows, np.dtype(float), limit))
        if path.is_dir() and any(path.glob("*.npy")):
            return FolderReader.of(path)
        array = _mapped(path)
    shape: tuple[Any, ...] = getattr(array, "shape", ())
    if len(shape) != 2 or 0 in shape or not hasattr(array, "dtype"):
        raise InputError(
            "V must be a non-empty matrix (features × samples) that can be read in strips, got "
            f"{type(array).__name__} of shape {shape}; np.load(path, mmap_mode='r') maps a file"
        )
    return SlicedReader(array, _width(int(shape[0]), np.dtype(array.dtype), limit))


def _mapped(path: Path) -> Any:
    """Return the array in a file or a folder without reading it."""
    if path.suffix == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix == ".zarr":
        return require("zarr", "storage", "reading Zarr needs").open_array(path, mode="r")
    raise InputError(
        f"V can be read from a .npy file, a folder of .npy files, .zarr or .parquet, got {path}; load "
        "other files yourself"
    )


def is_stored_in_strips(path: str | Path) -> bool:
    """Whether a path is one that is read in strips and in no other way.

    Examples
    --------
    >>> is_stored_in_strips("V.zarr"), is_stored_in_strips("V.npy")
    (True, False)
    """
    own = Path(path)
    return own.suffix in (".zarr", ".parquet", ".pq") or (own.is_dir() and any(own.glob("*.npy")))


def as_chunks(path: Path, memory_limit: Any = None) -> Any:
    """Return the matrix in a file as a Dask array, whose chunks each worker reads itself."""
    import dask.array as da
    from dask import delayed

    reader = _reader(path, _USUAL if memory_limit is None else as_bytes(memory_limit))
    rows, edges = reader.shape[0], reader.edges
    parts = [
        da.from_delayed(delayed(reader.load)(k), (rows, edges[k + 1] - edges[k]), reader.dtype)
        for k in range(reader.count)
    ]
    return da.concatenate(parts, axis=1)


def _width(rows: int, dtype: Any, limit: float) -> int:
    strip = min(limit / _PARTS, _WIDEST)
    return max(1, int(strip / (rows * max(dtype.itemsize, 8))))
