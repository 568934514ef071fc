"""Codes f(WᵀX + θ), f(x) = tanh(βx)^q: their distance to other codes, its derivatives, and steps.

Everything is computed from U = tanh(β(WᵀX + θ)), which is evaluated once a point. Rows are codes of
one filter, columns are samples. Where errors of two points are compared, it is by sums of
differences: totals would drown small ones in rounding.
"""

from __future__ import annotations

import math

import numpy as np

from conicnmf.geometry.compilers import inlined, jit, jit_long_sums
from conicnmf.kernels.code_steps import write_powers
from conicnmf.kernels.tanh import write_tanh
from conicnmf.types import Array


@jit_long_sums
def code_energy(U: Array, P: Array, H: Array, q: int) -> tuple[float, float]:
    """Return ‖U^q − H‖² and ⟨P,H⟩, q odd, summed in double precision.

    Examples
    --------
    >>> H = np.array([[8.0, 3.0]])
    >>> code_energy(np.array([[2.0, 1.0]]), np.ones((1, 2)), H, 3)
    (4.0, 11.0)
    """
    gap, dot = 0.0, 0.0
    f = np.empty(U.shape[1], U.dtype)
    for j in range(U.shape[0]):
        write_powers(U[j], q, f)
        for i in range(f.size):
            r = f[i] - H[j, i]
            gap += r * r
            dot += P[j, i] * H[j, i]
    return gap, dot


@jit_long_sums
def power_sum(U: Array, w: Array, q: int, out: Array) -> None:
    """Write wᵀU^q, one number a sample, to `out`.

    Examples
    --------
    >>> out = np.empty(1)
    >>> power_sum(np.array([[2.0], [1.0]]), np.array([1.0, 5.0]), 3, out)
    >>> out
    array([13.])
    """
    out[:] = 0.0
    f = np.empty(U.shape[1], U.dtype)
    for j in range(U.shape[0]):
        write_powers(U[j], q, f)
        own = U.dtype.type(w[j])
        for i in range(f.size):
            out[i] += own * f[i]


@jit_long_sums
def encoder_pull(
    U: Array,
    H: Array,
    beta: Array,
    q: int,
    infer: float,
    fit: float,
    w: Array,
    delta: Array,
    D: Array,
) -> None:
    """Write the gradient of infer·‖H − U^q‖² + ⟨w δᵀ, U^q⟩ − 2·fit·⟨H, P⟩ in P = WᵀX to D.

    Examples
    --------
    >>> D, one, zero = np.empty((1, 1)), np.array([[1.0]]), np.zeros(1)
    >>> encoder_pull(0.5 * one, 0 * one, one[0], 1, 1.0, 0.0, zero, zero, D)
    >>> D.item()
    0.75
    """
    kind = U.dtype.type
    gain, back, one = kind(2 * infer), kind(2 * fit), kind(1)
    lower = np.empty(U.shape[1], U.dtype)
    for j in range(U.shape[0]):
        b, own, u, h = kind(q * beta[j]), kind(w[j]), U[j], H[j]
        _write_even_powers(u, q, lower)
        for i in range(u.size):
            pull = gain * (lower[i] * u[i] - h[i]) + own * delta[i]
            D[j, i] = pull * lower[i] * (one - u[i] * u[i]) * b - back * h[i]


@inlined
def _write_even_powers(u: Array, q: int, out: Array) -> None:
    """Write u^(q−1) to `out`."""
    one = u.dtype.type(1)
    for i in range(u.size):
        out[i] = one
    for _ in range((q - 1) // 2):
        for i in range(u.size):
            out[i] *= u[i] * u[i]


@inlined
def row_slopes(
    u: Array,
    p: Array,
    h: Array,
    small: tuple[float, float, int, float, float],
    delta: Array,
    lower: Array,
    slopes: Array,
) -> None:
    """Write derivatives of infer·‖h − u^q‖² + w⟨δ, u^q⟩ of one filter to `slopes`.

    `small` are θ, β, q, infer and w, `lower` is room for a row. The first two derivatives are those in
    θ and β; then come the curvatures of the squared gap (their Gauss–Newton part) along θ, along β
    and across both, and last ‖h − u^q‖².

    Examples
    --------
    >>> slopes, one, zero = np.empty(6), np.ones(1), np.zeros(1)
    >>> row_slopes(0.5 * one, one, zero, (0.0, 1.0, 1, 1.0, 0.0), zero, np.empty(1), slopes)
    >>> slopes[:2].tolist()
    [0.75, 0.75]
    """
    theta, beta, q, infer, w = small
    kind = u.dtype.type
    b, shift, own, gain, one = kind(beta), kind(theta), kind(w), kind(2 * infer), kind(1)
    _write_even_powers(u, q, lower)
    s0, s1, s2, s3, s4, gap = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(u.size):
        slope = lower[i] * (one - u[i] * u[i])
        r = lower[i] * u[i] - h[i]
        d = (gain * r + own * delta[i]) * slope
        x = p[i] + shift
        y = slope * x
        s0 += d
        s1 += d * x
        s2 += slope * slope
        s3 += y * y
        s4 += slope * y
        gap += r * r
    slopes[0], slopes[1] = q * s0 * b, q * s1
    slopes[2], slopes[3] = gain * s2 * (q * b) ** 2, gain * s3 * q**2
    slopes[4] = gain * s4 * q**2 * b
    slopes[5] = gap


@inlined
def _gap_change(u: Array, new: Array, h: Array, q: int, f: Array, after: Array) -> float:
    """Return ‖new^q − h‖² − ‖u^q − h‖²; the powers are left in `f` and `after`."""
    write_powers(u, q, f)
    write_powers(new, q, after)
    gap = 0.0
    for i in range(u.size):
        gap += (after[i] - f[i]) * ((after[i] - h[i]) + (f[i] - h[i]))
    return gap


@jit_long_sums
def respond_and_compare(
    P: Array,
    old_P: Array,
    U: Array,
    H: Array,
    theta: Array,
    beta: Array,
    q: int,
    out: Array,
) -> tuple[float, float]:
    """Write tanh(β(P + θ)) to `out`; return by how much ‖U^q − H‖² and ⟨P, H⟩ change.

    Examples
    --------
    >>> one, out = np.ones((1, 1)), np.empty((1, 1))
    >>> respond_and_compare(0 * one, one, one, one, np.zeros(1), np.ones(1), 3, out)
    (1.0, -1.0)
    """
    gap, dot = 0.0, 0.0
    f, after = np.empty(P.shape[1], P.dtype), np.empty(P.shape[1], P.dtype)
    for j in range(P.shape[0]):
        p, old, h = P[j], old_P[j], H[j]
        write_tanh(p, theta[j], beta[j], out[j])
        gap += _gap_change(U[j], out[j], h, q, f, after)
        for i in range(p.size):
            dot += (p[i] - old[i]) * h[i]
    return gap, dot


@inlined
def _reach(p: Array) -> float:
    """Return max |p|."""
    largest = p.dtype.type(0)
    for i in range(p.size):
        size = abs(p[i])
        largest = size if size > largest else largest
    return float(largest)


@jit
def matched_slope(p: Array, q: int) -> float:
    """Return β with ‖(βp)^q‖ = 1, 1 where p is zero.

    Examples
    --------
    >>> matched_slope(np.array([0.0, 4.0]), 3)
    0.25
    """
    largest = _reach(p)
    if largest < np.finfo(p.dtype).tiny:
        return 1.0
    total = 0.0
    for i in range(p.size):
        square, power = (float(p[i]) / largest) ** 2, 1.0
        for _ in range(q):
            power *= square
        total += power
    return float(max(math.sqrt(total), 1e-30) ** (-1 / q) / largest)


@jit_long_sums
def step_encoder(
    U: Array,
    P: Array,
    H: Array,
    theta: Array,
    beta: Array,
    q: int,
    infer: float,
    w: Array,
    delta: Array,
    steps: Array,
    halvings: int,
    out: Array,
) -> float:
    """Take a Gauss–Newton step on each filter's θ and β and write the new U to `out`.

    `theta` and `beta` are overwritten. A step is halved until infer·‖h − u^q‖² + w⟨δ, u^q⟩ of the
    filter does not rise, and left out where that never happens. Returns by how much ‖H − U^q‖² changes.

    Examples
    --------
    >>> P = np.linspace(-1, 1, 9)[None]
    >>> H, U, theta, beta = np.tanh(2 * P) ** 3, np.tanh(P), np.zeros(1), np.ones(1)
    >>> small = theta, beta, 3, 1.0, np.zeros(1), np.zeros(9)
    >>> step_encoder(U, P, H, *small, np.ones(2), 6, np.empty((1, 9))) < 0
    True
    """
    total = 0.0
    f, after = np.empty(P.shape[1], P.dtype), np.empty(P.shape[1], P.dtype)
    slopes = np.empty(6)
    for j in range(P.shape[0]):
        u, p, h, new = U[j], P[j], H[j], out[j]
        t0, b0 = float(theta[j]), float(beta[j])
        row_slopes(u, p, h, (t0, b0, q, infer, float(w[j])), delta, f, slopes)
        turn, bend = _newton(slopes)
        reach = _reach(p)
        # No codes at all would be nearer, or the slopes of f are lost: start again.
        first = -1 if slopes[5] > 1 or abs(t0) > reach else 0
        taken = False
        for k in range(first, halvings):
            share = 0.5 ** max(k, 0)
            t = min(max(t0 - share * steps[0] * turn, -reach), reach)
            b = b0 - min(share * steps[1] * bend, b0 / 2)
            if k < 0:
                t, b = 0.0, matched_slope(p, q)
            theta[j], beta[j] = t, b
            write_tanh(p, theta[j], beta[j], new)
            gap = _gap_change(u, new, h, q, f, after)
            pull = 0.0
            for i in range(f.size):
                pull += delta[i] * (after[i] - f[i])
            taken = infer * gap + float(w[j]) * pull <= 0
            if taken:
                total += gap
                break
        if not taken:
            theta[j], beta[j] = t0, b0
            new[:] = u
    return total


@inlined
def _newton(slopes: Array) -> tuple[float, float]:
    """Return the Gauss–Newton steps of θ and β."""
    g0, g1, c0, c1, across = slopes[0], slopes[1], slopes[2], slopes[3], slopes[4]
    # A little more curvature keeps filters sane whose responses are all alike.
    det = c0 * c1 * (1 + 1e-6) - across * across
    if not det > 0:
        return 0.0, 0.0
    return (c1 * g0 - across * g1) / det, (c0 * g1 - across * g0) / det
