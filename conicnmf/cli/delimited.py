"""Tables of numbers in text files, as spreadsheets write them: what is read is said, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conicnmf.cli.cells import Layout, read_cells
from conicnmf.cli.numerals import Cells, Mask
from conicnmf.errors import InputError
from conicnmf.types import Array

_NAMELESS = ("", "unnamed: 0")
"""What pandas writes above a column of row names."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """The numbers of a table, NaN where a cell is empty, their names, and what was read."""

    values: Array
    rows: list[str] | None = None
    columns: list[str] | None = None
    said: tuple[str, ...] = ()


def read_sheet(path: Path, layout: Layout | None = None) -> Sheet:
    """Return a table of numbers; what the layout leaves open is found from the text."""
    layout = Layout() if layout is None else layout
    cells, said = read_cells(path, layout)
    header = _has_header(path, cells) if layout.header is None else layout.header
    names = cells.text.iloc[0].tolist() if header else None
    below = cells.below(int(header))
    index = _has_index(below, names) if layout.index is None else layout.index
    text = _text_columns(path, below, names, layout.skip_text, index)
    kept = ~text
    kept[:1] &= not index
    if not len(below.lines) or not kept.any():
        raise InputError(f"{path} must hold numbers, got none; check that it is the right file")
    naming = 0 if index else int(np.argmax(text)) if text.any() else None
    rows = None if naming is None else below.text.iloc[:, naming].tolist()
    columns = None if names is None else [n for n, own in zip(names, kept, strict=True) if own]
    said += ["line 1 names the columns" if header else "no header"]
    said += ["the first column names the rows"] if index else []
    said += [f"left out {_listed(text, names)} with text"] if text.any() else []
    said += _hints(cells, below, header, index)
    return Sheet(below.numbers[:, kept], rows, columns, tuple(said))


def _has_header(path: Path, cells: Cells) -> bool:
    """Whether the first line is names: words above numbers. One that may be either is refused."""
    if len(cells.text) == 1:
        return False
    below = slice(1, None)
    numeric = ~(cells.words[below] | cells.odd[below]).any(axis=0)
    numeric &= ~np.isnan(cells.numbers[below]).all(axis=0)
    first = {kind: getattr(cells, kind)[0] & numeric for kind in ("words", "odd", "empty")}
    numbers = numeric & ~first["words"] & ~first["odd"] & ~first["empty"]
    if first["odd"].any() or (first["words"].any() and numbers.any()):
        place = int(np.argmax(first["odd"] if first["odd"].any() else first["words"]))
        raise InputError(
            f"line 1 of {path} must be all names or all numbers, got {cells.text.iloc[0, place]!r} in "
            f"column {place + 1} above numbers; add --header if it is a line of names, or else correct "
            f"that cell{_or_decimal(cells, 0, place)}"
        )
    if first["words"].any():
        return True
    # pandas writes an empty corner and then counts the columns.
    rest = cells.numbers[0, 1:]
    corner = bool(cells.text.iloc[0, 0] == "") and bool((cells.text.iloc[1:, 0] != "").all())
    return corner and len(rest) > 0 and np.array_equal(rest, np.arange(len(rest)))


def _has_index(below: Cells, names: list[str] | None) -> bool:
    """Whether the first column is names of rows: nothing stands above it, or it counts them."""
    if names is None or len(names) < 2:
        return False
    title = names[0].lower()
    return title in _NAMELESS or (title == "index" and _counts(below.numbers[:, 0]))


def _counts(numbers: Array) -> bool:
    """Whether numbers go on from 0 or from 1."""
    steps = np.arange(len(numbers))
    return any(np.array_equal(numbers, steps + first) for first in (0, 1))


def _hints(cells: Cells, below: Cells, header: bool, index: bool) -> list[str]:
    """Return what may have been meant otherwise."""
    line, column = cells.numbers[0], below.numbers[:, 0]
    hints = []
    if not header and len(line) > 2 and _counts(line):
        hints.append("line 1 is read as data: add --header if it holds names")
    if not index and len(column) > 2 and _counts(column):
        hints.append("the first column is read as data: add --index if it names the rows")
    return hints


def _text_columns(
    path: Path, below: Cells, names: list[str] | None, skip_text: bool, index: bool
) -> Mask:
    """Return the columns of text, or refuse what may be a number and what was not to be text."""
    words, odd = below.words.copy(), below.odd.copy()
    if index:
        words[:, 0] = odd[:, 0] = False
    numeric = ~np.isnan(below.numbers).all(axis=0)
    unclear = odd & (numeric | (not skip_text))
    if unclear.any():
        row, column = _first(unclear)
        raise InputError(
            f"{path} must hold plain numbers such as -1.5e3, got "
            f"{_where(below, row, column, names)}, which looks like a mistyped number; correct the "
            f"cell{_or_decimal(below, row, column)}"
        )
    text = np.asarray((words | odd).any(axis=0))
    if text.any() and not skip_text:
        row, column = _first(words)
        others = f" and {int(text.sum()) - 1} more" if text.sum() > 1 else ""
        named = "add --index if the first column names the rows, or " if column == 0 else "add "
        raise InputError(
            f"{path} must hold numbers below at most one header line, got the text "
            f"{_where(below, row, column, names)}{others}; {named}--skip-text to leave out columns "
            "of text"
        )
    return text


def _first(mask: Mask) -> tuple[int, int]:
    column = int(np.argmax(mask.any(axis=0)))
    return int(np.argmax(mask[:, column])), column


def _where(below: Cells, row: int, column: int, names: list[str] | None) -> str:
    called = repr(names[column]) if names and names[column] else f"number {column + 1}"
    return f"{below.text.iloc[row, column]!r} in line {below.lines[row]}, column {called}"


def _or_decimal(cells: Cells, row: int, column: int) -> str:
    comma = "," in str(cells.text.iloc[row, column])
    return ", or add --decimal . or --decimal , to set the decimal mark" if comma else ""


def _listed(text: Mask, names: list[str] | None) -> str:
    places = [int(i) for i in np.flatnonzero(text)]
    shown = [repr(names[i]) if names and names[i] else f"number {i + 1}" for i in places]
    return ("column " if len(shown) == 1 else "columns ") + ", ".join(shown)
