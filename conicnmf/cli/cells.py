"""A text file cut into cells, and what is known of its layout beforehand."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from conicnmf.cli.numerals import Cells, Mark, classify, decimal_mark
from conicnmf.errors import InputError

_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}


@dataclass(frozen=True)
class Layout:
    """What is known of a sheet before it is read; None is found out, or asked for where it is unclear.

    Parameters
    ----------
    header, index : bool, optional
        Whether the first line names the columns, and the first column the rows.
    delimiter : str, optional
        What separates the cells.
    decimal : str, optional
        "." or ",". The other one may then stand between thousands.
    skip_text : bool
        Leave out columns of words; the first of them names the rows.
    """

    header: bool | None = None
    index: bool | None = None
    delimiter: str | None = None
    decimal: Mark | None = None
    skip_text: bool = False


def read_cells(path: Path, layout: Layout) -> tuple[Cells, list[str]]:
    """Return all cells without blanks around them, and how they were separated."""
    text = _decoded(path)
    skipped, first = next(
        ((place, line) for place, line in enumerate(text.splitlines()) if line.strip()), (0, "")
    )
    given = {"\\t": "\t", "tab": "\t", "space": " "}.get(layout.delimiter or "", layout.delimiter)
    mark = given or next((mark for mark in _SEPARATORS if mark in first), " ")
    if len(mark) != 1:
        raise InputError(f"--delimiter must be one character, tab or space, got {mark!r}")
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if mark == " " else mark,
            header=None,
            dtype=str,
            na_filter=False,
            skip_blank_lines=False,
            skiprows=skipped,
        )
    except pd.errors.ParserError as error:
        raise InputError(_ragged_message(path, error)) from error
    frame = frame.fillna("").apply(lambda column: column.str.strip())
    filled = (frame != "").any(axis=1).to_numpy()
    lines = [skipped + int(i) + 1 for i in np.flatnonzero(filled)]
    frame = frame[filled]
    if not len(frame):
        raise InputError(f"{path} must hold numbers, got no line with any; check the file")
    decimal = layout.decimal
    if decimal is None and mark != ",":
        decimal = decimal_mark(frame)
    said = [f"separated by {_SEPARATORS.get(mark, 'blanks' if mark == ' ' else repr(mark))}"]
    said += ["decimal commas"] if decimal == "," else []
    return classify(frame, lines, decimal), said


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # what spreadsheets on Windows write
    if "\0" in text:
        raise InputError(f"{path} must be a text file, got zero bytes in it; save it as UTF-8")
    return text


def _ragged_message(path: Path, error: Exception) -> str:
    said = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if said is None:
        return (
            f"{path} must be a table, got a file that cannot be split into cells ({error}); check "
            "its quotes"
        )
    wanted, line, found = said.groups()
    return (
        f"{path} must have as many cells in every line as in the first, {wanted}, got {found} in line "
        f"{line}; take out lines above the table, and check the delimiter (--delimiter)"
    )
