"""Tables of numbers in text files, as spreadsheets write them."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conicnmf.errors import InputError
from conicnmf.types import Array

_SEPARATORS = ("\t", ";", ",")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
_DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$")


@dataclass(frozen=True, eq=False)
class Sheet:
    """The numbers of a table, NaN where a cell is empty, and the names beside them."""

    values: Array
    rows: list[str] | None = None
    columns: list[str] | None = None


def read_sheet(path: Path, skip_text: bool = False) -> Sheet:
    """Return a table of numbers; separator, decimal mark and header are found from the text.

    With `skip_text`, columns of words are left out, and the first of them names the rows.
    """
    cells = _cells(path)
    numbers, words = _numbers_and_words(cells)
    below = words[1:].any(axis=0)
    # A header has a word above a column of numbers; a column of words says nothing.
    header = len(cells) > 1 and bool((words[0] & ~below).any())
    text = below if header else words.any(axis=0)
    names = cells.iloc[0].tolist() if header else None
    body = slice(1 if header else 0, None)
    if text.any() and not skip_text:
        raise InputError(_text_message(path, cells, words[body], names))
    if text.all():
        raise InputError(f"{path} must hold numbers, got none; check that it is the right file")
    labels = cells.iloc[body, int(np.argmax(text))].tolist() if text.any() else None
    kept = None if names is None else [n for n, out in zip(names, text, strict=True) if not out]
    return Sheet(numbers[body, ~text], labels, kept)


def _cells(path: Path) -> pd.DataFrame:
    """Return all cells as text without blanks around it."""
    text = _decoded(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = next((mark for mark in _SEPARATORS if mark in first), None)
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=separator or r"\s+", header=None, dtype=str, na_filter=False
        )
    except pd.errors.ParserError as error:
        said = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        wanted, line, found = said.groups() if said else ("so many", "some", "others")
        raise InputError(
            f"{path} must have as many cells in every line as in the first, {wanted}, got {found} in "
            f"line {line}; take out lines above the table, and check what separates the cells"
        ) from error
    cells: pd.DataFrame = frame.fillna("").apply(lambda column: column.str.strip())
    if separator != ",":
        cells = cells.apply(lambda column: column.str.replace(_DECIMAL_COMMA, r"\1.\2", regex=True))
    return cells


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # what spreadsheets on Windows write


def _numbers_and_words(cells: pd.DataFrame) -> tuple[Array, Any]:
    """Return the numbers, NaN where there is none, and which cells hold something else."""
    numbers = cells.apply(lambda column: pd.to_numeric(column, errors="coerce"))
    empty = cells.apply(lambda column: column.str.lower().isin(_MISSING))
    return numbers.to_numpy(dtype=float), (numbers.isna() & ~empty).to_numpy()


def _text_message(path: Path, cells: pd.DataFrame, words: Any, names: list[str] | None) -> str:
    text = words.any(axis=0)
    column = int(np.argmax(text))
    line = int(np.argmax(words[:, column])) + (0 if names is None else 1)
    called = f"{names[column]!r}" if names and names[column] else f"number {column + 1}"
    others = f" and {int(text.sum()) - 1} more" if text.sum() > 1 else ""
    return (
        f"{path} must hold numbers below at most one header line, got the text "
        f"{cells.iloc[line, column]!r} in line {line + 1}, column {called}{others}; add --skip-text to "
        "leave out columns of text"
    )
