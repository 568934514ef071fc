"""Cells of a sheet: which are numbers, which are words, and which might be either.

"1,000.5", "1.O" and "5 %" look like numbers to a reader and are none to a parser. They are called *odd*
and never guessed at: the code that reads the sheet refuses them, or is told the decimal mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from conicnmf.types import Array

Mark = Literal[".", ","]
Mask = NDArray[np.bool_]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
_POWER = r"(?:[eE][+-]?[0-9]+)?"
PLAIN = re.compile(rf"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+){_POWER}|[+-]?inf(?:inity)?", re.IGNORECASE)
DECIMAL_COMMA = re.compile(rf"[+-]?[0-9]*,[0-9]+{_POWER}")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_ODD = re.compile(r"(?=.*[0-9])[0-9.,'’_+\-–eEOolI%$€£\s]+")
_BETWEEN: dict[Mark, str] = {".": r"[,'’\s]", ",": r"[.'’\s]"}
"""What may stand between thousands, by the decimal mark."""
_MARKED = {
    mark: re.compile(
        rf"(?=.*[0-9])[+-]?(?:[0-9]{{1,3}}(?:{between}[0-9]{{3}})+|[0-9]*)(?:[{mark}][0-9]*)?{_POWER}"
        r"|[+-]?inf(?:inity)?",
        re.IGNORECASE,
    )
    for mark, between in _BETWEEN.items()
}


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a sheet as text, the numbers in them, and what the others are.

    Attributes
    ----------
    text : DataFrame of str
    lines : list of int
        The line of the file that each row is from.
    numbers : array
        NaN where a cell holds none.
    words, odd : arrays of bool
        Which cells hold text, and which hold something that may be meant as a number.
    """

    text: pd.DataFrame
    lines: list[int]
    numbers: Array
    words: Mask
    odd: Mask

    @property
    def empty(self) -> Mask:
        """Which cells hold nothing."""
        return np.isnan(self.numbers) & ~self.words & ~self.odd

    def below(self, count: int) -> Cells:
        """Return the cells without the first lines."""
        text, lines = self.text.iloc[count:], self.lines[count:]
        return Cells(text, lines, self.numbers[count:], self.words[count:], self.odd[count:])


def classify(text: pd.DataFrame, lines: list[int], decimal: Mark | None) -> Cells:
    """Return what each cell is, with this decimal mark; None is a point, and no thousands."""
    text = text.apply(lambda column: column.str.replace("\N{MINUS SIGN}", "-"))
    is_number, plain = _each(text, PLAIN if decimal is None else _MARKED[decimal]), text
    if decimal is not None:
        plain = text.apply(lambda c: c.str.replace(_BETWEEN[decimal], "", regex=True))
        plain = plain.apply(lambda c: c.str.replace(decimal, ".", regex=False))
    numbers = np.full(text.shape, np.nan)
    numbers[is_number] = plain.to_numpy()[is_number].astype(float)
    empty = text.apply(lambda column: column.str.lower().isin(MISSING)).to_numpy()
    odd = _each(text, _ODD) & ~is_number & ~empty
    return Cells(text, lines, numbers, ~is_number & ~empty & ~odd, odd)


def decimal_mark(text: pd.DataFrame) -> Mark | None:
    """Return a comma where cells can only be read with one: "1,5" is, "1,500" may be 1500.

    Examples
    --------
    >>> decimal_mark(pd.DataFrame([["1,5", "2"]])), decimal_mark(pd.DataFrame([["1,500", "2"]]))
    (',', None)
    """
    commas = _each(text, DECIMAL_COMMA)
    points = _each(text, PLAIN) & text.apply(lambda c: c.str.contains(".", regex=False)).to_numpy()
    clear = commas & ~_each(text, THOUSANDS)
    return "," if clear.any() and not points.any() else None


def _each(text: pd.DataFrame, pattern: re.Pattern[str]) -> Any:
    """Return which cells match a pattern as a whole."""
    return text.apply(lambda column: column.str.fullmatch(pattern)).to_numpy(dtype=bool)
