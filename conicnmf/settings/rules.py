"""Rules that accompany a type, and the names of those that are used often.

`Annotated[float, above(0)]` is a finite number above zero; `Positive` is its name.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias


def _always(value: Any) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """What a value must be in addition to its type.

    Parameters
    ----------
    text : str
        The rule as text, to be read after the type: "a whole number *that is even*".
    holds : callable
        Whether a value of the type obeys.
    remedy : str
        What to write instead; by default the field's own default is named.
    infinite : bool
        Whether a number may be infinite.

    Examples
    --------
    >>> Rule("that is even", lambda n: n % 2 == 0, "try 2").holds(3)
    False
    """

    text: str = ""
    holds: Callable[[Any], bool] = _always
    remedy: str = ""
    infinite: bool = False


@dataclass(frozen=True)
class Reads:
    """How a value is brought into its own form, by `read(value, name)`.

    The reader takes whatever comes and raises what is wrong; the type with it is for readers of
    the code.

    Examples
    --------
    >>> from conicnmf.validate import as_numbers
    >>> Reads(as_numbers).read([1, 2], "weights")
    array([1, 2])
    """

    read: Callable[[Any, str], Any]


def _as_given(value: Any, name: str) -> Any:
    return value


AS_GIVEN = Reads(_as_given)
"""Leaves a value to a later check that knows more, such as the problem."""


def at_least(least: float, *, infinite: bool = False) -> Rule:
    """Return the rule that a number is this large or larger."""
    return Rule(f">= {least:g}", lambda value: bool(value >= least), infinite=infinite)


def above(least: float, *, infinite: bool = False) -> Rule:
    """Return the rule that a number is larger than this."""
    return Rule(f"> {least:g}", lambda value: bool(value > least), infinite=infinite)


def between(least: float, most: float) -> Rule:
    """Return the rule that a number lies between two others or is one of them."""
    return Rule(f"from {least:g} to {most:g}", lambda value: bool(least <= value <= most))


Whole: TypeAlias = Annotated[int, at_least(0)]
Count: TypeAlias = Annotated[int, at_least(1)]
Number: TypeAlias = Annotated[float, Rule(infinite=True)]
Weight: TypeAlias = Annotated[float, at_least(0)]
Positive: TypeAlias = Annotated[float, above(0)]
Share: TypeAlias = Annotated[float, between(0, 1)]
Exponent: TypeAlias = Annotated[float, between(-30, 30)]
Limit: TypeAlias = Annotated[float, Rule("> 0", lambda value: value > 0, "use inf for none", True)]

Seconds: TypeAlias = Annotated[
    float, Rule(">= 0", lambda value: value >= 0, "use inf for none", True)
]
Jobs: TypeAlias = Annotated[
    int, Rule("that is not 0", bool, "1 is one process, -1 takes every core")
]


def _is_place(place: str | Path) -> bool:
    """Whether a text can be a path: not empty, no null in it, and no name that is too long."""
    if not str(place) or "\0" in str(place):
        return False
    try:
        names = [os.fsencode(part) for part in Path(place).parts]
    except UnicodeEncodeError:  # half of a character, which no file system takes
        return False
    return all(len(name) <= _LONGEST_NAME for name in names)


_LONGEST_NAME = 255
"""Bytes of the longest name of a file on common file systems."""
Place: TypeAlias = Annotated[
    str | Path, Rule("", _is_place, remedy="give the path of a file or folder")
]

LARGEST = 2**63 - 1
"""Whole numbers are handed to compiled loops."""


def is_finite(number: float) -> bool:
    """Whether a number is one that double precision can hold."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
