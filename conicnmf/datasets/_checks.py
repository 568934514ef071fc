"""Rules of the options that the loaders share."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.settings import Rule, Whole, between, checked

Density: TypeAlias = Annotated[float, Rule("> 0 and <= 1", lambda share: 0 < share <= 1)]
"""A usable share of non-zero entries."""


def check_count(what: str, value: Any, most: int) -> int:
    """Return `value` if it is a whole number from 1 to `most`."""
    count: int = checked(Annotated[int, between(1, most)], value, "the data set", what)
    return count


def generator(seed: Any) -> np.random.Generator:
    """Return the random generator that belongs to `seed`."""
    return np.random.default_rng(checked(Whole, seed, "the data set", "seed"))
