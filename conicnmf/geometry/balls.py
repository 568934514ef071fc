"""Projection onto the part of a ball round a point that is non-negative and not too sparse.

With K = {w ≥ 0, sp(w) ≤ s_max} and a center p in K, the nearest point to x with ‖w − p‖ ≤ ρ is
P_K((x + λp)/(1 + λ)) for the smallest λ ≥ 0 that satisfies the ball; its distance to p falls
with λ, so a bracket finds it.
"""

from __future__ import annotations

import math

import numpy as np

from conicnmf.geometry.band import band_row
from conicnmf.geometry.compilers import inlined, inner
from conicnmf.types import Array

_STEPS = 100


@inner
def _mixed(x: Array, p: Array, part: float, s_max: float, y: Array, out: Array, u: Array) -> float:
    """Project p + part·(x − p) on K into `out`; return its distance to p."""
    for i in range(x.size):
        y[i] = p[i] + part * (x[i] - p[i])
    if s_max < 1:
        band_row(y, 0.0, s_max, out, u)
    else:
        for i in range(x.size):
            out[i] = max(y[i], 0.0)
    total = 0.0
    for i in range(x.size):
        d = out[i] - p[i]
        total += d * d
    return math.sqrt(total)


@inlined
def near_row(x: Array, p: Array, radius: float, s_max: float, out: Array, u: Array) -> None:
    """Write the projection of x onto {w ≥ 0, sp(w) ≤ s_max, ‖w − p‖ ≤ radius} to `out`.

    Examples
    --------
    >>> out, u = np.empty(2), np.empty(2)
    >>> near_row(np.array([3.0, 1.0]), np.array([1.0, 1.0]), 0.5, 1.0, out, u)
    >>> out
    array([1.5, 1. ])
    """
    if radius <= 0:
        for i in range(x.size):
            out[i] = p[i]
        return
    y = np.empty_like(x)
    # part = 1/(1 + λ) runs from 0, at the center, to 1.
    low, high, part, distance = 0.0, 1.0, 1.0, np.inf
    for _ in range(_STEPS):
        distance = _mixed(x, p, part, s_max, y, out, u)
        if distance <= radius:
            low = part
            if part == 1 or distance >= radius * (1 - 1e-14):
                return
        else:
            high = part
        if high - low <= 1e-15 * high:
            break
        # On a fixed support the distance is proportional to the part, so this is often exact.
        guess = part * radius / distance if distance > 0 else high
        part = guess if low < guess < high else 0.5 * (low + high)
    if distance > radius * (1 + 1e-12):
        _mixed(x, p, low, s_max, y, out, u)
