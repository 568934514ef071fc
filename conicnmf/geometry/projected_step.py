"""Gradient steps followed by the projection on ‖b‖₁ = c‖b‖₂, from a level that is nearly known.

The nearest direction to a is (a − λ)₊ for the one λ that meets the ratio. On a fixed support it has a
closed form, so that a few passes over a row find it when the search starts near: the rows of an
iteration are those of the one before, moved a little.
"""

from __future__ import annotations

import math

import numpy as np

from conicnmf.geometry.compilers import inlined, jit_long_sums
from conicnmf.types import Array, Mask

_PASSES = 40
_SHARE = 0.7
"""Where the next search starts, as a part of the last level."""


@inlined
def _sums(a: Array, level: float) -> tuple[float, float, float]:
    """Return how many entries exceed the level, their sum and the sum of their squares."""
    m, total, squares = 0.0, 0.0, 0.0
    for i in range(a.size):
        x = np.float64(a[i])
        kept = x if x > level else 0.0
        m += 1.0 if x > level else 0.0
        total += kept
        squares += kept * kept
    return m, total, squares


@inlined
def _level(a: Array, c: float, least: float) -> tuple[float, float]:
    """Return λ and ‖(a − λ)₊‖₂ for entries above `least`; a norm of 0 where λ is not above it too."""
    level = least
    for _ in range(_PASSES):
        m, total, squares = _sums(a, level)
        if m <= c * c * (1 + 1e-9):
            break
        mean = total / m
        spread = squares - total * mean
        if spread <= 1e-9 * squares:
            break
        rise = c * math.sqrt(spread / (m * (m - c * c)))
        new = mean - rise
        if new < least:
            break  # entries that were left out belong to the support
        if new == level:
            return level, math.sqrt(spread + m * rise * rise)
        level = new
    return level, 0.0


@inlined
def _moved(B: Array, before: Array, gradient: Array, m: float, s: float, out: Array) -> None:
    """Write B + m(B − before) − s·gradient to `out`."""
    for i in range(B.size):
        out[i] = B[i] + m * (B[i] - before[i]) - s * gradient[i]


@inlined
def _norm(a: Array) -> float:
    squares = 0.0
    for x in a:
        squares += np.float64(x) * x
    return math.sqrt(squares)


@inlined
def _above(a: Array, least: float, signed: bool, kept: Array) -> int:
    """Write the sizes above `least` to the front of `kept`; return their number."""
    k = 0
    for i in range(a.size):
        y = abs(a[i]) if signed else a[i]
        kept[k] = y
        k += y > least
    return k


@inlined
def project_row(
    row: Array, ratio: float, norm: float, signed: bool, level: Array, kept: Array
) -> bool:
    """Project a row in place and return whether its level was found; else it stays as it is.

    `level` holds one number, where the last search ended; `kept` is room for one entry more than the
    row has.
    """
    length = norm if norm > 0 else _norm(row)
    cut, found = 0.0, 0.0
    # Entries well below the last level are left out, and found to have been needed or not.
    for least in (_SHARE * level[0], -np.inf):
        if found == 0:
            count = _above(row, least, signed, kept)
            cut, found = _level(kept[:count], ratio, least)
    if found == 0:
        return False
    level[0] = cut
    factor = length / found
    for i in range(row.size):
        x = row[i]
        # In double precision: on a plateau almost all of |x| is taken away.
        y = np.float64(abs(x) if signed else x) - cut
        w = (y if y > 0 else 0.0) * factor
        row[i] = -w if signed and x < 0 else w
    return True


@jit_long_sums
def advance_rows(
    B: Array,
    before: Array,
    gradient: Array,
    momentum: float,
    step: float,
    ratio: float,
    norm: float,
    signed: bool,
    levels: Array,
    out: Array,
    failed: Mask,
) -> None:
    """Write the projection of each row of B + momentum·(B − before) − step·gradient to `out`.

    Rows get ‖b‖₂ = norm, or keep theirs where norm is 0, and ‖b‖₁ = ratio·‖b‖₂. `levels` are where
    the last searches ended, −∞ where nothing is known. Where one fails, the row of `out` is the
    unprojected one and `failed` says so.

    Examples
    --------
    >>> import numpy as np
    >>> B, out, failed = np.array([[2.0, -1.0]]), np.empty((1, 2)), np.zeros(1, dtype=bool)
    >>> advance_rows(B, B, 0 * B, 0.0, 0.0, 1.2, 1.0, True, np.full(1, -np.inf), out, failed)
    >>> out.round(6)
    array([[ 0.974166, -0.225834]])
    """
    m, s = B.dtype.type(momentum), B.dtype.type(step)
    kept = np.empty(B.shape[1] + 1, B.dtype)
    for j in range(B.shape[0]):
        row = out[j]
        _moved(B[j], before[j], gradient[j], m, s, row)
        failed[j] = not project_row(row, ratio, norm, signed, levels[j : j + 1], kept)
