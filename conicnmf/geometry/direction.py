"""The best direction: max ⟨a,u⟩ over the unit vectors u ≥ 0 with c_min ≤ ‖u‖₁ ≤ c_max.

For every λ and every unit u ≥ 0 of sum c

    ⟨a,u⟩ = ⟨a − λ,u⟩ + λc ≤ ‖(a − λ)₊‖₂ + λc,

with equality at u(λ) = (a − λ)₊/‖(a − λ)₊‖₂ when its sum is c. So u(0) is best if its sum is
allowed, and otherwise the u(λ) on the violated bound, although the set is not convex.

The root is sought in μ = max a − λ, where entries enter through their depths d = max a − a. The
differences are exact between near ties, and on a fixed support of m depths the condition
‖(μ − d)₊‖₁ = c‖(μ − d)₊‖₂ has the closed form μ = mean(d) + τ, τ² = c²Q/(m(m − c²)), with Q the
sum of squares round the mean. On a superset of the true support this μ is never too small, so each
pass drops what lies deeper.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.geometry.first_calls import FirstCalls
from conicnmf.geometry.rows import BLOCK, inverse_power, largest, per_row
from conicnmf.types import Array, Mask

_FEW = 16  # rows whose first loops are not worth compiling
FINEST = 2.0**1022  # the largest unit; (max a − a)·unit stays exact below it
DEEPEST = 1e120  # depths beyond it are as good as infinite, and their squares still finite
SLACK = 1 + 1e-9  # rounding of μ must not drop an entry of the support; the last step is exact


@inner
def shift(m: float, spread: float, c: float) -> float:
    """Return τ with mτ = c√(mτ² + spread): the mean at which the ratio ‖·‖₁/‖·‖₂ is c."""
    gap = max(m - c * c, 1e-15 * m)  # c² = m up to rounding: (almost) constant vectors
    return c * math.sqrt(max(spread, 0.0) / (m * gap))


@inner
def _survey(a: Array, inv: float) -> tuple[float, int, float, float, float, float]:
    """Return max a, the number of positive entries, and the sums over these and over all."""
    top, count, total, squares, all_total, all_squares = -np.inf, 0, 0.0, 0.0, 0.0, 0.0
    for start in range(0, a.size, BLOCK):
        s1, s2, t1, t2 = 0.0, 0.0, 0.0, 0.0
        for i in range(start, min(start + BLOCK, a.size)):
            x = a[i]
            if x > top:
                top = x
            y = x * inv
            t1 += y
            t2 += y * y
            y = y if x > 0 else 0.0
            count += x > 0
            s1 += y
            s2 += y * y
        total += s1
        squares += s2
        all_total += t1
        all_squares += t2
    return top, count, total, squares, all_total, all_squares


@inner
def _first_level(height: float, count: int, total: float, squares: float, c: float) -> float:
    """Return a safe upper bound of μ from sums of entries instead of depths, or infinity."""
    mean = total / count
    spread = squares - total * mean
    if not (spread > 1e-3 * squares and squares < DEEPEST):
        return np.inf  # cancellation or overflow made the sums worthless
    return float((height - mean + shift(float(count), spread, c)) * (1 + 1e-6))


@jit
def keep_above(
    source: Array, size: int, kept: Array, top: float, inv: float, mu: float
) -> tuple[int, float, float, float]:
    """Move the entries of depth below μ to the front of `kept`; count, sum and bound the depths."""
    count, total, squares, deepest = 0, 0.0, 0.0, 0.0
    for j in range(size):
        x = source[j]
        d = min((top - x) * inv, DEEPEST)
        kept[count] = x  # without a branch: overwritten by the next entry unless it counts
        keep = d < mu
        count += keep
        d = d if keep else 0.0
        total += d
        squares += d * d
        if d > deepest:
            deepest = d
    return count, total, squares, deepest


@inner
def _narrow(
    a: Array, c: float, top: float, inv: float, mu: float, work: Array
) -> tuple[int, float, float]:
    """Shrink the candidates from {depth < μ} to the support; return their number, μ and its unit.

    μ = 0 says that only ties are left.
    """
    count, total, squares, deepest = keep_above(a, a.size, work, top, inv, mu)
    while deepest > 0:
        if deepest < 1e-50 and inv < FINEST:  # squares would underflow: change the unit
            inv = min(inv * inverse_power(deepest), FINEST)
            count, total, squares, deepest = keep_above(work, count, work, top, inv, np.inf)
        mean = total / count
        mu = mean + shift(float(count), squares - total * mean, c)
        if not deepest >= mu * SLACK:
            return count, mu, inv
        count, total, squares, deepest = keep_above(work, count, work, top, inv, mu * SLACK)
    return count, 0.0, inv


@inner
def _fill_ties(a: Array, top: float, count: int, c: float, u: Array) -> float:
    """Spread norm 1 and sum c over the first tied maxima, as few as can hold it."""
    m = min(float(count), math.ceil(c * c))
    even = c / m
    step = math.sqrt(max(1 - c * even, 0.0) / (m * (m - 1))) if m > 1 else 0.0
    used = 0
    for i in range(a.size):
        u[i] = 0.0
        if a[i] == top and used < m:
            u[i] = even + (m - 1) * step if used == 0 else max(even - step, 0.0)
            used += 1
    return top * c


@inner
def _fill_support(
    a: Array, c: float, top: float, inv: float, mu: float, count: int, u: Array
) -> float:
    """Write u ∝ (μ − d)₊ and return ⟨a,u⟩; the candidates stand in the first entries of u."""
    m, total, squares, dot, entries = 0, 0.0, 0.0, 0.0, 0.0
    for start in range(0, count, BLOCK):
        s1, s2, d1, d2 = 0.0, 0.0, 0.0, 0.0
        for j in range(start, min(start + BLOCK, count)):
            w = max(mu - min((top - u[j]) * inv, DEEPEST), 0.0)
            x = u[j] if w > 0 else 0.0
            m += w > 0
            s1 += w
            s2 += w * w
            d1 += w * x
            d2 += x
        total += s1
        squares += s2
        dot += d1
        entries += d2
    # μ carries the rounding of large depths; one more step on the weights themselves removes it.
    correction, norm = 0.0, math.sqrt(squares)
    mean = total / m
    spread = squares - total * mean
    if m > c * c and spread > 0:
        tau = shift(float(m), spread, c)
        correction, norm = tau - mean, math.sqrt(m * tau * tau + spread)
    factor = 1 / norm
    for i in range(a.size):
        w = mu - min((top - a[i]) * inv, DEEPEST)
        u[i] = max(w + correction, 0.0) * factor if w > 0 else 0.0
    return (dot + correction * entries) * factor


@inlined
def _on_bound(a: Array, c: float, top: float, inv: float, mu: float, u: Array) -> float:
    """Write the best unit u ≥ 0 of sum c, whose support has depth below μ; return ⟨a,u⟩."""
    dot = 0.0
    if c >= math.sqrt(a.size):
        even = 1 / math.sqrt(a.size)
        for i in range(a.size):
            u[i] = even
            dot += a[i] * even
        return dot
    count = 1
    if c > 1:
        count, mu, inv = _narrow(a, c, top, inv, mu, u)
    else:
        c, mu = 1.0, 0.0
    if mu == 0:
        return float(_fill_ties(a, top, count, c, u))
    return float(_fill_support(a, c, top, inv, mu, count, u))


@jit
def direction_row(a: Array, c_min: float, c_max: float, u: Array) -> tuple[float, bool]:
    """Write to u the unit vector that maximizes ⟨a,u⟩ over u ≥ 0, c_min ≤ ‖u‖₁ ≤ c_max.

    Returns ⟨a,u⟩ and whether u is the direction of a₊ itself. u may not overlap a.

    Examples
    --------
    >>> u = np.empty(2)
    >>> direction_row(np.array([3.0, 4.0]), 1.0, 1.0, u)
    (4.0, False)
    >>> u
    array([0., 1.])
    """
    inv = 1.0
    top, count, total, squares, all_total, all_squares = _survey(a, inv)
    if not 1e-50 < top < 1e50:
        inv = inverse_power(largest(a))
        top, count, total, squares, all_total, all_squares = _survey(a, inv)
    norm = math.sqrt(squares)
    c, mu = c_min, np.inf
    if top > 0 and c_min * norm <= total <= c_max * norm:
        for i in range(a.size):
            u[i] = a[i] * inv / norm if a[i] > 0 else 0.0
        return norm / inv, True
    if top > 0:
        sparser = total > c_max * norm  # entries up to zero stay out then, and all count otherwise
        if sparser:
            c, mu = c_max, top * inv
        else:
            count, total, squares = a.size, all_total, all_squares
        mu = min(mu, _first_level(top * inv, count, total, squares, c))
    return _on_bound(a, c, top, inv, mu, u), False


@jit
def _direction_rows(
    X: Array, c_min: Array, c_max: Array, U: Array, products: Array, inside: Mask
) -> None:
    for i in range(X.shape[0]):
        products[i], inside[i] = direction_row(X[i], c_min[i], c_max[i], U[i])


def directions(X: Array, c_min: ArrayLike, c_max: ArrayLike) -> tuple[Array, Array, Mask]:
    """Return the best unit direction u of each row x, ⟨x,u⟩, and whether u is that of x₊ itself.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [4.0, 3.0]]), 1.0, [1.0, 2.0])
    (array([[0. , 1. ],
           [0.8, 0.6]]), array([4., 5.]), array([False,  True]))
    """
    k = len(X)
    U, products, inside = np.empty_like(X), np.empty(k, X.dtype), np.empty(k, np.bool_)
    args = X, per_row(c_min, k), per_row(c_max, k), U, products, inside
    _every_row(*args, small=k <= _FEW)
    return U, products, inside


_every_row = FirstCalls(_direction_rows, _direction_rows.py_func)
