"""Where DATA comes from: a data set by its name, a file, or a folder of pictures."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.lib import format as npy

from conicnmf.archive import Arrays
from conicnmf.cli import options as o
from conicnmf.cli._app import complain
from conicnmf.cli.cells import Layout
from conicnmf.cli.delimited import read_sheet
from conicnmf.cli.pictures import read_pictures
from conicnmf.datasets import load, names
from conicnmf.errors import InputError
from conicnmf.types import Data, stored
from conicnmf.validate import as_data

TEXT = (".csv", ".tsv", ".txt")
ENDINGS = (".npz", ".npy", ".mtx", *TEXT)


@dataclass(frozen=True)
class Reading:
    """The options that say how DATA is read.

    Examples
    --------
    >>> Reading(delimiter=";", decimal=",").layout.decimal
    ','
    """

    image_shape: o.ImageShape = None
    samples_are_rows: o.SamplesAreRows = False
    samples: o.Samples = None
    skip_text: o.SkipText = False
    header: o.Header = None
    index: o.Index = None
    delimiter: o.Delimiter = None
    decimal: o.Decimal = None
    missing: o.Missing = False

    @property
    def layout(self) -> Layout:
        """How a sheet is laid out, as far as the options say."""
        if self.decimal not in (None, ".", ","):
            raise InputError(f"--decimal must be . or , got {self.decimal!r}")
        mark: Any = self.decimal
        return Layout(self.header, self.index, self.delimiter, mark, self.skip_text)


@dataclass(frozen=True, eq=False)
class Source:
    """A matrix of features × samples, what it is called, and what is known of it.

    `known` is true where an entry is there; None when all are. Names are there when the file has
    them.
    """

    name: str
    V: Data
    image_shape: tuple[int, int] | None = None
    known: Any = None
    features: list[str] | None = None
    samples: list[str] | None = None
    is_text: bool = False
    said: tuple[str, ...] = ()
    """How the data were read."""

    def tell(self) -> None:
        """Say what was read, and what the user should know before reading the result."""
        if self.said:  # of a data set with a name all is known
            rows, columns = self.V.shape
            how = "; ".join(self.said)
            complain(f"Read {self.name}: {rows} features × {columns} samples; {how}", "dim")
        low = float(stored(self.V).min(initial=0.0))
        if low < 0:
            below = f"DATA has negative entries (down to {low:.3g}), which W H ≥ 0 cannot fit"
            complain(below, "yellow")

    def transposed(self) -> Source:
        """Return the source with rows as samples."""
        V: Any = self.V
        return replace(self, V=V.T, features=self.samples, samples=self.features)

    def some(self, count: int, seed: int = 0) -> Source:
        """Keep random columns, in their order."""
        V: Any = self.V
        total = V.shape[1]
        if not 1 <= count <= total:
            raise InputError(f"--samples must be between 1 and {total}, got {count}")
        kept = np.sort(np.random.default_rng(seed).choice(total, count, replace=False))
        samples = None if self.samples is None else [self.samples[i] for i in kept]
        return replace(self, V=V[:, kept], samples=samples)


def read_data(where: str, how: Reading | None = None) -> Source:
    """Return the data that a name or a path refers to.

    Examples
    --------
    >>> read_data("bars", Reading(samples=50, image_shape="3x3")).V.shape
    (9, 50)
    """
    how = Reading() if how is None else how
    shape = None if how.image_shape is None else parse_shape(how.image_shape)
    source = _read(where, shape, how.layout)
    if how.samples_are_rows:
        source = replace(source.transposed(), said=(*source.said, "rows are samples"))
    if how.samples is not None:
        source = source.some(how.samples)
    source = _complete(source, how.missing)
    source = replace(source, V=as_data(source.V))
    shape = source.image_shape if shape is None else shape
    features = source.V.shape[0]
    if shape is not None and shape[0] * shape[1] != features:
        remedy = "leave out" if how.samples_are_rows else "add"
        when = "column" if how.samples_are_rows else "row"
        raise InputError(
            f"the image shape must have one pixel for each entry of a sample ({features}), got "
            f"{shape[0]}x{shape[1]}; {remedy} --samples-are-rows if each {when} is a sample"
        )
    return replace(source, image_shape=shape)


def read_weights(where: str | None) -> Any:
    """Return the weights of entries from a file, nothing where none is named."""
    return None if where is None else read_data(where, Reading()).V


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


def _complete(source: Source, missing: bool) -> Source:
    """Set entries that are not there to zero and remember which, or refuse them."""
    V: Any = source.V
    if sp.issparse(V) or V.dtype.kind != "f" or not np.isnan(V).any():
        return source
    gone = np.isnan(V)
    if not missing:
        row, column = (int(i) for i in np.argwhere(gone)[0])
        raise InputError(
            f"no entry may be missing, got {int(gone.sum())} of {V.size} that are empty or NaN, the "
            f"first in row {row + 1}, column {column + 1}; add --missing to leave them out of the loss"
        )
    return replace(source, V=np.where(gone, 0, V), known=~gone)


def _read(where: str, shape: tuple[int, int] | None, layout: Layout) -> Source:
    if where in names():
        dataset = load(where)
        return Source(where, dataset.V, dataset.image_shape)
    path = Path(where)
    if path.is_dir():
        V, size, files = read_pictures(path, shape)
        said = f"pictures of {size[0]}x{size[1]} pixels"
        return Source(path.resolve().name, V, size, samples=files, said=(said,))
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"DATA is the name of a data set, a file {', '.join(ENDINGS)} or a folder of pictures, got "
            f"{where!r}; spreadsheets can be saved as .csv, the names are {', '.join(names())}"
        )
    if not path.is_file():
        raise InputError(f"there is no file {where!r}; check the path")
    try:
        if ending in TEXT:
            sheet = read_sheet(path, layout)
            known = (sheet.rows, sheet.columns, True, sheet.said)
            return Source(path.stem, sheet.values, None, None, *known)
        V, said = _READERS[ending](path)
        return Source(path.stem, V, said=(said,))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # a file may hold anything, and decoders raise anything
        raise InputError(
            f"{where} could not be read as a matrix of numbers: {error or type(error).__name__}; check "
            "that the file is complete and has the right extension"
        ) from error


def _npy(path: Path) -> tuple[Any, str]:
    with path.open("rb") as file:
        return npy.read_array(file, allow_pickle=False), "an array"


def _mtx(path: Path) -> tuple[Any, str]:
    return scipy.io.mmread(path), "a Matrix Market file"


def _npz(path: Path) -> tuple[Any, str]:
    """Return the array called V, the only matrix, or the sparse matrix SciPy has saved."""
    with zipfile.ZipFile(path) as file:
        arrays = dict(Arrays(file))
    if {"format", "shape", "data"} <= set(arrays):
        return sp.load_npz(path), "a sparse matrix"
    found = {name: X for name, X in arrays.items() if X.ndim == 2 and X.dtype.kind in "fiub"}
    if "V" not in found and len(found) != 1:
        raise InputError(
            f"{path} must hold an array called V or a single matrix, got the matrices "
            f"{', '.join(found) or 'none'}; save it with np.savez(path, V=V)"
        )
    name = "V" if "V" in found else next(iter(found))
    return found[name], f"its array {name!r}"


_READERS: dict[str, Callable[[Path], tuple[Any, str]]] = {
    ".npz": _npz,
    ".npy": _npy,
    ".mtx": _mtx,
}
