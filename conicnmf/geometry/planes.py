"""Projections onto {w ≥ 0, ⟨t,w⟩ ≥ 0}, and onto its part of sparseness at most s_max.

With K the orthant or {w ≥ 0, sp(w) ≤ s_max}, the nearest point is P_K(x + νt) for the smallest
ν ≥ 0 that makes ⟨t, P_K(x + νt)⟩ ≥ 0, a monotone function of ν. On a fixed support its root has a
closed form, which serves as a Newton step; a bracket keeps the steps honest. The search ends when
a step reproduces itself, so the root is exact and not merely close.
"""

from __future__ import annotations

import math

import numpy as np

from conicnmf.geometry.compilers import inlined, inner
from conicnmf.geometry.cones import cone_ratio
from conicnmf.geometry.direction import direction_row, shift
from conicnmf.geometry.rows import dot, inverse_power, largest, norms, peak, scaled
from conicnmf.types import Array

EPS = 2.0**-52
MAX_STEPS = 200


@inner
def _next_step(nu: float, newton: float, low: float, high: float, steps: int) -> float:
    """Return the Newton point if it lies inside the bracket, else a point that shortens it."""
    # Late steps halve the bracket in turn, so that no chain of short Newton steps gets long.
    if low < newton < high and (steps < 12 or steps % 2 == 0 or high == np.inf):
        return newton
    if high == np.inf:
        return max(4 * nu, 1.0)
    return 0.5 * (low + high)


@inlined
def _orthant_newton(x: Array, t: Array, nu: float) -> tuple[float, float]:
    """Return ⟨t,(x + νt)₊⟩ and the root of this sum on its present support."""
    products, squares = 0.0, 0.0
    for i in range(x.size):
        if x[i] + nu * t[i] > 0:
            products += x[i] * t[i]
            squares += t[i] * t[i]
    return products + nu * squares, -products / squares


@inlined
def _orthant_root(x: Array, t: Array) -> float:
    """Return ν ≥ 0 with ⟨t,(x + νt)₊⟩ = 0, or 0 if that is not negative; sizes are near one."""
    low, high, nu = 0.0, np.inf, 0.0
    for step in range(MAX_STEPS):
        value, newton = _orthant_newton(x, t, nu)
        if value == 0 or (value > 0 and nu == 0):
            break
        if abs(newton - nu) <= 4 * EPS * nu:
            return float(newton)
        if value < 0:
            low = nu
        else:
            high = nu
        if high - low <= 4 * EPS * low:
            break
        nu = _next_step(nu, newton, low, high, step)
    return nu


@inlined
def _normal(t: Array) -> Array:
    """Return t at size one, without entries that only its rounding made different from zero."""
    normal: Array = scaled(t, inverse_power(largest(t)))
    noise = 1e-14 if t.itemsize == 8 else 1e-6
    for i in range(t.size):
        normal[i] = normal[i] if abs(normal[i]) > noise else 0.0
    return normal


@inner
def plane_row(x: Array, t: Array, out: Array) -> None:
    """Write the projection of x onto {w ≥ 0, ⟨t,w⟩ ≥ 0} to `out`.

    Examples
    --------
    >>> out = np.empty(2)
    >>> plane_row(np.array([1.0, 3.0]), np.array([1.0, -1.0]), out)
    >>> out
    array([2., 2.])
    """
    top = peak(x)
    if top <= 0:
        for i in range(x.size):
            out[i] = 0.0
        return
    inv = inverse_power(top)
    y, normal = scaled(x, inv), _normal(t)
    nu = _orthant_root(y, normal)
    for i in range(x.size):
        w = y[i] + nu * normal[i]
        # What cancellation leaves of an entry that should be zero must not look alive.
        out[i] = w / inv if w > 4 * EPS * abs(y[i]) else 0.0


@inner
def _cone_newton(x: Array, t: Array, c: float, u: Array, bound: bool) -> float:
    """Return the ν for which the point on the present support meets the plane (and the cone).

    On the support z = x + κe + νt. Within the plane ⟨t,z⟩ = 0 the cone is circular round the
    shadow of e, of squared length M, and κ follows as in the band projection with M for m.
    """
    m, e_t, t_t, x_e, x_t, x_x = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        if u[i] > 0:
            m += 1
            e_t += t[i]
            t_t += t[i] * t[i]
            x_e += x[i]
            x_t += x[i] * t[i]
            x_x += x[i] * x[i]
    if not bound:
        return -x_t / t_t
    shadow = m - e_t * e_t / t_t
    along = x_e - x_t * e_t / t_t
    if shadow <= c * c:
        return np.nan
    spread = x_x - x_t * x_t / t_t - along * along / shadow
    kappa = shift(shadow, spread, c) - along / shadow
    return float(-(x_t + kappa * e_t) / t_t)


@inlined
def _cone_root(x: Array, t: Array, c: float, y: Array, u: Array) -> float:
    """Find ν ≥ 0 with u the direction of P_K(x + νt) and ⟨t,u⟩ = 0; return ⟨x,u⟩ or 0."""
    root, noise = math.sqrt(x.size), EPS * math.sqrt(dot(t, t))
    low, high, nu = 0.0, np.inf, 0.0
    for step in range(MAX_STEPS):
        for i in range(x.size):
            y[i] = x[i] + nu * t[i]
        product, inside = direction_row(y, c, root, u)
        value = dot(t, u)
        if product <= 0:
            return 0.0  # x + νt lies in the polar cone of K: the nearest point is 0
        if abs(value) <= noise or (value >= 0 and nu == 0):
            break
        newton = _cone_newton(x, t, c, u, not inside)
        if abs(newton - nu) <= 4 * EPS * nu:
            break
        if value < 0:
            low = nu
        else:
            high = nu
        if high - low <= 4 * EPS * low:
            break
        nu = _next_step(nu, newton, low, high, step)
    return float(dot(x, u))


@inner
def plane_cone_row(x: Array, t: Array, s_max: float, out: Array) -> None:
    """Write the projection of x onto {w ≥ 0, sp(w) ≤ s_max, ⟨t,w⟩ ≥ 0} to `out`.

    Examples
    --------
    >>> out = np.empty(2)
    >>> plane_cone_row(np.array([2.0, 0.0]), np.array([-1.0, 1.0]), 0.5, out)
    >>> out
    array([1., 1.])
    """
    n = x.size
    c = cone_ratio(n, s_max)
    plane_row(x, t, out)
    size = largest(out)
    if c <= 1 or size == 0:
        return
    total, norm = norms(out, inverse_power(size))
    # The nearest point of the larger set is that of the smaller one, if it lies there.
    if total >= c * norm:
        return
    inv = inverse_power(peak(x))
    y, normal = scaled(x, inv), _normal(t)
    u = np.empty(n)
    best, _ = direction_row(normal, c, math.sqrt(n), u)
    # The plane of a vector of this very sparseness touches K in a ray, up to rounding. (A normal
    # without a positive entry meets K in a face instead, and the search ends there.)
    touch = 1e-12 if out.itemsize == 8 else 1e-5
    slack = touch * math.sqrt(dot(normal, normal))
    if best < -slack:
        product = 0.0
    elif best <= slack and peak(normal) > 0:
        product = dot(y, u)
    else:
        product = _cone_root(y, normal, c, np.empty(n), u)
    for i in range(n):
        out[i] = max(product, 0.0) * u[i] / inv
