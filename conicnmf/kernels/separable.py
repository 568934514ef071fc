"""Minimize a sum over entries whose slopes are sums of powers, each row with at most one plane.

Entry b = b̃ t has the slope flat + Σ_e w_e t^e, rising in t. Under ⟨n, b⟩ ≥ offset with the multiplier ν
the slope equals ν n_i: a shift of `flat`. So ν is the only unknown of a row, and ⟨n, b⟩ rises with it.

Without a positive exponent an entry with n_i > 0 is unbounded as ν comes near flat_i/n_i, its pole.
The search counts from the first pole on, where differences lose no digits. An entry without a negative
exponent is zero up to its pole and free there: it takes what the plane still lacks, and without that
some rows have no root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.types import Array, Mask

_STEPS = 200
_EPS = 2.0**-52
_SQUARES = np.array([1.0, -1.0])
"""The exponents other than zero whose root has a closed form."""


@inner
def _closed(steep: float, flat: float, down: float) -> tuple[float, float]:
    """Return t and −dt/d(flat) where steep·t + flat − down/t is zero."""
    if down == 0:
        if steep > 0 and flat < 0:
            return -flat / steep, 1 / steep
        return (0.0, 0.0) if flat >= 0 else (np.inf, np.inf)
    if steep == 0:
        return (down / flat, down / (flat * flat)) if flat > 0 else (np.inf, np.inf)
    root = math.sqrt(flat * flat + 4 * steep * down)
    t = 2 * down / (flat + root) if flat > 0 else (root - flat) / (2 * steep)
    return t, t / root


@inner
def _by_newton(w: Array, e: Array, flat: float) -> tuple[float, float]:
    """Return t and −dt/d(flat) where flat + Σ w t^e is zero, by Newton's method in log t."""
    falls, rises = False, False
    for k in range(e.size):
        falls = falls or (e[k] < 0 and w[k] < 0)
        rises = rises or (e[k] > 0 and w[k] > 0)
    if flat >= 0 and not falls:
        return 0.0, 0.0
    if flat <= 0 and not rises:
        return np.inf, np.inf
    low, high, u, bent = -np.inf, np.inf, 0.0, 1.0
    for step in range(_STEPS):
        value, bent = flat, 0.0
        for k in range(e.size):
            if w[k] != 0:
                part = w[k] * math.exp(min(e[k] * u, 700.0))
                value += part
                bent += e[k] * part
        if value < 0:
            low = u
        else:
            high = u
        new = u - value / bent if bent > 0 else np.nan
        if not low <= new <= high or abs(new - u) > 8 or step % 8 == 7:
            if low > -np.inf and high < np.inf:
                new = 0.5 * (low + high)
            else:
                new = u + (8.0 if value < 0 else -8.0)
        if abs(new - u) <= _EPS * max(1.0, abs(u)):
            break
        u = new
    t = math.exp(u)
    return t, t / bent if bent > 0 else 0.0


@inlined
def _row(
    base: Array,
    w: Array,
    e: Array,
    flat: Array,
    shift: float,
    normal: Array,
    walled: bool,
    out: Array,
) -> tuple[float, float, int]:
    """Write the entries for flat + shift·normal; return ⟨normal, b⟩ and by how much it falls in shift.

    Last comes the entry that falls most. Without exponents in `e`, the rows of w belong to the
    exponents 1 and −1.
    """
    total, fall, most, loose = 0.0, 0.0, 0.0, 0
    for i in range(base.size):
        level = flat[i] + shift * normal[i]
        if base[i] == 0:
            # The sum touches at zero here: powers below zero vanish, powers above are a wall.
            t, change = (0.0 if walled or level >= 0 else np.inf), 0.0
        elif e.size == 0:
            t, change = _closed(w[0, i], level, -w[1, i])
        else:
            t, change = _by_newton(w[:, i], e, level)
        out[i] = base[i] * t if base[i] > 0 else t
        if normal[i] != 0:
            total += normal[i] * out[i]
            own = normal[i] * normal[i] * base[i] * change
            fall += own
            if own > most:
                most, loose = own, i
    return total, fall, loose


@inlined
def _first_pole(base: Array, w: Array, e: Array, flat: Array, normal: Array, walled: bool) -> float:
    """Return the multiplier at which the first entry is unbounded, infinity where none is."""
    nearest = np.inf
    for i in range(normal.size):
        bounded = normal[i] <= 0 or (e.size == 0 and w[0, i] > 0) or (walled and base[i] == 0)
        for k in range(e.size):
            bounded = bounded or (e[k] > 0 and w[k, i] > 0)
        if not bounded:
            nearest = min(nearest, flat[i] / normal[i])
    return nearest


@inner
def _between(low: float, high: float) -> float:
    """Return a point well inside a bracket, by ratios where both ends have one sign."""
    if low > 0:
        return math.sqrt(low * high)
    return high / 64 if low == 0 else 0.5 * (low + high)


@inlined
def _plane(
    base: Array,
    w: Array,
    e: Array,
    flat: Array,
    normal: Array,
    offset: float,
    equal: bool,
    walled: bool,
    out: Array,
) -> None:
    """Write the minimizer of a row with ⟨normal, b⟩ ≥ offset, or = offset where `equal`."""
    total, fall, loose = _row(base, w, e, flat, 0.0, normal, walled, out)
    if offset <= total < np.inf and not equal:
        return
    unit = 0.0
    for i in range(flat.size):
        unit = max(unit, abs(flat[i]))
        for k in range(w.shape[0]):
            unit = max(unit, abs(w[k, i]))
    pole = _first_pole(base, w, e, flat, normal, walled)
    level = flat.copy()
    # The plane's side of zero: ⟨normal, b⟩ falls as the shift grows.
    low, high = (-np.inf, 0.0) if total < offset else (0.0, np.inf)
    shift = -unit if total < offset else unit
    if pole < np.inf:
        free = -1
        for i in range(flat.size):
            level[i] = flat[i] - pole * normal[i]
            if normal[i] > 0 and level[i] <= 4 * _EPS * abs(flat[i]):
                level[i] = 0.0
                free = i if free < 0 or normal[i] > normal[free] else free
        total, fall, loose = _row(base, w, e, level, 0.0, normal, walled, out)
        if total < offset:
            out[free] = (offset - total) / normal[free]
            return
        low, high = 0.0, (np.inf if equal else pole)
        shift = _between(0.0, high) if high < np.inf else unit
    for step in range(_STEPS):
        total, fall, loose = _row(base, w, e, level, shift, normal, walled, out)
        if total >= offset:
            low = shift
        else:
            high = shift
        newton = shift + (total - offset) / fall if 0 < fall < np.inf else np.nan
        closed = low > -np.inf and high - low <= 2 * _EPS * abs(low)
        if closed or abs(newton - shift) <= 2 * _EPS * abs(shift):
            break
        if low < newton < high and step % 8 != 7:
            shift = newton
        elif low == -np.inf or high == np.inf:
            shift = 4 * shift
        else:
            shift = _between(low, high)
    # An entry that has just left zero moves with a root of the multiplier: half its digits depend on
    # the multiplier's last, and it takes what rounding has left of the plane.
    missing = offset - np.dot(normal, out)
    if fall > 0 and (equal or missing > 0):
        out[loose] = max(0.0, out[loose] + missing / normal[loose])


@jit
def _minimize(
    base: Array,
    W: Array,
    e: Array,
    flat: Array,
    normals: Array,
    offsets: Array,
    held: Mask,
    equal: bool,
    walled: bool,
    out: Array,
) -> None:
    for j in range(base.shape[0]):
        w = np.ascontiguousarray(W[:, j, :])
        if held[j]:
            _plane(base[j], w, e, flat[j], normals[j], offsets[j], equal, walled, out[j])
        else:
            _row(base[j], w, e, flat[j], 0.0, normals[j], walled, out[j])


def minimize_separable(
    base: Array,
    slopes: Mapping[float, Array],
    normals: Array | None = None,
    offsets: Array | float = 0.0,
    held: Mask | None = None,
    equal: bool = False,
) -> Array:
    """Return the rows b ≥ 0 where Σ_e slopes[e]·(b/base)^e integrates to least.

    Rows where `held` is true keep ⟨normal, b⟩ ≥ offset, or = offset where `equal`.

    Examples
    --------
    >>> import numpy as np
    >>> base, slopes = np.ones((1, 2)), {0.0: np.full((1, 2), 2.0), -1.0: np.array([[-1.0, -3.0]])}
    >>> minimize_separable(base, slopes)  # 2 = c/b
    array([[0.5, 1.5]])
    >>> minimize_separable(base, slopes, np.ones((1, 2)), 1.0, np.array([True]), equal=True)
    array([[0.25, 0.75]])
    """
    if normals is None and len(slopes) == 2:
        return _two_powers(base, *sorted(slopes.items()))
    r, shape = len(base), base.shape
    e = np.array(sorted(k for k in slopes if k != 0), dtype=float)
    closed = set(e) <= set(_SQUARES)
    e = _SQUARES if closed else e
    zero = np.zeros(shape)
    W = np.array([slopes.get(float(k), zero) for k in e], dtype=float)
    flat = np.ascontiguousarray(slopes.get(0.0, zero), dtype=float)
    out = np.empty(shape)
    _minimize(
        np.ascontiguousarray(base, dtype=float),
        W,
        np.empty(0) if closed else e,
        flat,
        zero if normals is None else np.ascontiguousarray(normals, dtype=float),
        np.array(np.broadcast_to(np.asarray(offsets, dtype=float), (r,))),
        np.zeros(r, dtype=bool) if held is None else np.ascontiguousarray(held),
        equal,
        max(slopes) > 0,
        out,
    )
    return out.astype(base.dtype, copy=False)


def _two_powers(base: Array, lower: tuple[float, Array], upper: tuple[float, Array]) -> Array:
    """Return the minimizer for two powers: (N/P)^(1/(p − q)) times the base."""
    (q, down), (p, up) = lower, upper
    # Where the denominator vanishes the numerator does too: that entry has no say in the loss.
    tiny = np.finfo(base.dtype).tiny
    if up.min(initial=np.inf) > tiny:  # the usual case, and a third quicker
        ratio = np.divide(down, up)
    else:
        ratio = np.divide(down, up, out=np.zeros_like(base), where=up > tiny)
    ratio = np.maximum(np.negative(ratio, out=ratio), 0.0, out=ratio)
    return base * (ratio if p - q == 1 else ratio ** (1 / (p - q)))
