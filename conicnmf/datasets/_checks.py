"""Checks of the options that the loaders share."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.errors import InputError


def check_count(what: str, value: Any, most: int | None = None) -> int:
    """Return `value` if it is a whole number from 1 to `most`."""
    if not _is_whole(value) or value < 1 or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(f"{what} must be a whole number, at least 1{upper}, got {value!r}")
    return int(value)


def check_level(what: str, value: Any, most: float = np.inf) -> float:
    """Return `value` if it is a finite number from 0 to `most`."""
    number = isinstance(value, float | np.floating) or _is_whole(value)
    if not number or not np.isfinite(value) or not 0 <= value <= most:
        upper = "" if most == np.inf else f" and at most {most:g}"
        raise InputError(f"{what} must be a finite number, at least 0{upper}, got {value!r}")
    return float(value)


def check_density(value: Any) -> float:
    """Return `value` if it is a usable share of non-zero entries."""
    if check_level("density", value, most=1) == 0:
        raise InputError("density must be more than 0, or every entry would be zero; got 0")
    return float(value)


def generator(seed: Any) -> np.random.Generator:
    """Return the random generator that belongs to `seed`."""
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed must be a whole number, at least 0, got {seed!r}")
    return np.random.default_rng(int(seed))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
