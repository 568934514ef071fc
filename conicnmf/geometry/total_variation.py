"""Total variation along a row: the exact minimizer of ½‖x − a‖² + weight Σ|xᵢ₊₁ − xᵢ|, in O(n).

Let fₖ(t) be the derivative of the least cost of the entries up to k when xₖ = t. It rises, it is
piecewise linear, and fₖ₊₁(t) = clip(fₖ(t), −weight, weight) + t − aₖ₊₁. So each step cuts the
function off at both ends, where it remembers the two places of the cuts, and tilts it. The last
entry is the root of fₙ, and every earlier one is the next clipped to the places of the cuts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.compilers import inner, jit
from conicnmf.geometry.rows import as_rows, per_row
from conicnmf.types import Array


@inner
def _from_left(
    knots: Array, turns: Array, first: int, last: int, offset: float, level: float
) -> tuple[int, float, float]:
    """Return the first knot at or above `level`, where the level is met, and the slope there.

    Left of all knots the function is t + offset; at each knot its slope changes by its turn.
    """
    if last < first:
        return first, level - offset, 1.0
    slope, value = 1.0, knots[first] + offset
    while value < level:
        slope += turns[first]
        first += 1
        if first > last:
            return first, knots[last] + (level - value) / slope, slope
        value += slope * (knots[first] - knots[first - 1])
    return first, knots[first] - (value - level) / slope, slope


@inner
def _from_right(
    knots: Array, turns: Array, first: int, last: int, offset: float, level: float
) -> tuple[int, float, float]:
    """Return the last knot at or below `level`, where the level is met, and the slope there."""
    if last < first:
        return last, level - offset, 1.0
    slope, value = 1.0, knots[last] + offset
    while value > level:
        slope -= turns[last]
        last -= 1
        if last < first:
            return last, knots[first] - (value - level) / slope, slope
        value -= slope * (knots[last + 1] - knots[last])
    return last, knots[last] + (level - value) / slope, slope


@inner
def _tv_row(a: Array, weight: float, x: Array, cuts: Array, knots: Array, turns: Array) -> None:
    """Write the minimizer to x; `cuts` is (2, n), `knots` and `turns` have 2n places."""
    n = a.size
    first, last = n, n - 1  # no knots yet; each step adds one at either end
    low, high = -a[0], -a[0]  # f₀(t) = t − a₀
    for k in range(n - 1):
        begin, at, slope = _from_left(knots, turns, first, last, low, -weight)
        end, to, steep = _from_right(knots, turns, begin, last, high, weight)
        first, last, to = begin - 1, end + 1, max(at, to)
        knots[first], turns[first] = at, slope
        knots[last], turns[last] = to, -steep
        cuts[0, k], cuts[1, k] = at, to
        low, high = -weight - a[k + 1], weight - a[k + 1]
    _, x[n - 1], _ = _from_left(knots, turns, first, last, low, 0.0)
    for k in range(n - 2, -1, -1):
        x[k] = min(max(x[k + 1], cuts[0, k]), cuts[1, k])


@jit
def _tv_rows(X: Array, weights: Array, P: Array) -> None:
    n = X.shape[1]
    cuts, knots, turns = np.empty((2, n)), np.empty(2 * n), np.empty(2 * n)
    row, x = np.empty(n), np.empty(n)
    for i in range(X.shape[0]):
        row[:] = X[i]
        # Beyond this weight every row is flat; an infinite one would leave no numbers.
        _tv_row(row, min(weights[i], n * (row.max() - row.min())), x, cuts, knots, turns)
        P[i] = x


def prox_total_variation(X: ArrayLike, weight: ArrayLike, nonneg: bool = False) -> Array:
    """Return for each row a of X the x of least ½‖x − a‖² + weight Σ|xᵢ₊₁ − xᵢ|, x ≥ 0 if `nonneg`.

    Parameters
    ----------
    X : array of shape (rows, n)
    weight : float or array of shape (rows,)
        At least 0.
    nonneg : bool
        The minimizer over x ≥ 0 is the free one with its negative entries set to 0.

    Examples
    --------
    >>> prox_total_variation([[1.0, 2.0, 7.0, 8.0]], 1.0)
    array([[2., 2., 7., 7.]])
    """
    rows = as_rows(X)
    P = np.empty_like(rows)
    if rows.size:
        _tv_rows(rows, per_row(weight, len(rows)), P)
    return np.maximum(P, 0, out=P) if nonneg else P
