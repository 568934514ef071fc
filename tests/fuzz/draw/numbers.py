"""Choices by weight, and numbers that scale exactly.

Everything that is drawn is a multiple of its side's unit, a power of two, without any decimal
rounding: the same case in other units is then the same to the last bit.
"""

from __future__ import annotations

import numpy as np


def pick(rng, table):
    """Return a key of a table, drawn by its weights."""
    weights = np.array(list(table.values()), dtype=float)
    return list(table)[rng.choice(len(table), p=weights / weights.sum())]


def chance(rng, share):
    """Return True in this share of the cases."""
    return bool(rng.random() < share)


def short(x):
    """Return a number with ten binary digits near x, so that its text is short."""
    mantissa, exponent = np.frexp(x)
    return float(np.ldexp(np.round(mantissa * 1024), exponent - 10))


def uniform(rng, low, high):
    """Return a short number between two."""
    return short(rng.uniform(low, high))
