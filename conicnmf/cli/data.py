"""Where DATA comes from: a data set by its name, or a file."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

from conicnmf._types import Data
from conicnmf.datasets import load, names
from conicnmf.errors import InputError
from conicnmf.validate import as_data

ENDINGS = (".npz", ".npy", ".csv", ".mtx")


@dataclass(frozen=True, eq=False)
class Source:
    """A matrix of features × samples, what it is called, and its image shape if it has one."""

    name: str
    V: Data
    image_shape: tuple[int, int] | None = None


def read_data(
    where: str,
    *,
    samples_are_rows: bool = False,
    n_samples: int | None = None,
    image_shape: str | None = None,
    seed: int = 0,
) -> Source:
    """Return the data that a name or a path stands for.

    Examples
    --------
    >>> read_data("bars", n_samples=50, image_shape="3x3").V.shape
    (9, 50)
    """
    if where in names():
        dataset = load(where)
        source = Source(where, dataset.V, dataset.image_shape)
    else:
        source = Source(Path(where).stem, _read_file(where))
    V: Any = as_data(source.V)
    V = V.T if samples_are_rows else V
    if n_samples is not None:
        V = _some(V, n_samples, seed)
    shape = source.image_shape if image_shape is None else parse_shape(image_shape)
    if shape is not None and shape[0] * shape[1] != V.shape[0]:
        raise InputError(
            f"the image shape must have as many pixels as a sample has entries ({V.shape[0]}), got "
            f"{shape[0]}x{shape[1]}; add --samples-are-rows if each row is a sample"
        )
    return Source(source.name, V, shape)


def parse_shape(text: str) -> tuple[int, int]:
    """Return (rows, columns) from text like 16x16.

    Examples
    --------
    >>> parse_shape("19x16")
    (19, 16)
    """
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"an image shape is ROWSxCOLUMNS such as 16x16, got {text!r}")
    return int(parts[0]), int(parts[1])


def _some(V: Any, n_samples: int, seed: int) -> Any:
    """Keep random columns, in their order."""
    total = V.shape[1]
    if not 1 <= n_samples <= total:
        raise InputError(f"--samples must be from 1 to the {total} there are, got {n_samples}")
    kept = np.sort(np.random.default_rng(seed).choice(total, n_samples, replace=False))
    return V[:, kept]


def _read_file(where: str) -> Any:
    path = Path(where)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"DATA is the name of a data set or a file {', '.join(ENDINGS)}, got {where!r}; "
            f"the names are {', '.join(names())}"
        )
    if not path.is_file():
        raise InputError(f"there is no file {where!r}; check the path")
    readers = {".npz": _npz, ".npy": _npy, ".csv": _csv, ".mtx": scipy.io.mmread}
    try:
        return readers[path.suffix.lower()](path)
    except InputError:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile, pd.errors.ParserError) as error:
        raise InputError(f"{where} could not be read as a matrix of numbers: {error}") from error


def _npy(path: Path) -> Any:
    return np.load(path, allow_pickle=False)


def _npz(path: Path) -> Any:
    """Return the array called V, the only matrix, or the sparse matrix SciPy has saved."""
    with np.load(path, allow_pickle=False) as arrays:
        if {"format", "shape", "data"} <= set(arrays.files):
            return sp.load_npz(path)
        found = {name: arrays[name] for name in arrays.files}
    matrices = {name: X for name, X in found.items() if X.ndim == 2 and X.dtype.kind in "fiub"}
    if "V" in matrices:
        return matrices["V"]
    if len(matrices) != 1:
        raise InputError(
            f"{path} must hold an array called V or a single matrix, got the matrices "
            f"{', '.join(matrices) or 'none'}; save it with np.savez(path, V=V)"
        )
    return next(iter(matrices.values()))


def _csv(path: Path) -> Any:
    """Return a table of numbers; the first line may be a header."""
    with path.open(encoding="utf-8-sig") as lines:
        header = 0 if any(_is_word(cell) for cell in lines.readline().split(",")) else None
    frame = pd.read_csv(path, header=header, encoding="utf-8-sig")
    words = [str(name) for name, kind in frame.dtypes.items() if kind.kind not in "fiub"]
    if words or frame.empty:
        raise InputError(
            f"{path} must hold numbers separated by commas, below at most one header line; "
            f"got text in column {', '.join(words[:3]) or '(no columns)'}"
        )
    return frame.to_numpy()


def _is_word(cell: str) -> bool:
    cell = cell.strip().strip('"')
    if not cell:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
