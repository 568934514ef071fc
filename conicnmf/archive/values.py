"""Plain values as JSON has them, and back: numbers that are not finite are words there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_NOT_FINITE = ("inf", "-inf", "nan")


def plain(value: Any) -> Any:
    """Return what JSON can hold: numbers that are not finite become words."""
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(own) for own in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return value


def number(value: Any) -> float:
    """Return a number as it was before it was written; JSON has none that are not finite.

    Examples
    --------
    >>> number("-inf"), number(3)
    (-inf, 3.0)
    """
    if value in _NOT_FINITE or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return float(value)
    raise TypeError(f"{value!r} is not a number")


def text(value: Any) -> str:
    """Return a value that must be a text.

    Examples
    --------
    >>> text("HALS")
    'HALS'
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
