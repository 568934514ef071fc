"""A gradient step on codes, its projection and by how much the errors change, row by row.

Both squared errors are quadratic in the codes, so what a step Δ changes is known from sums over Δ
alone. Differences of two totals would drown in rounding once steps are small.
"""

from __future__ import annotations

import numpy as np

from conicnmf.geometry.compilers import inlined, jit_long_sums
from conicnmf.geometry.projected_step import project_row
from conicnmf.types import Array, Mask


@inlined
def write_powers(u: Array, q: int, out: Array) -> None:
    """Write u^q, q odd, to `out`."""
    for i in range(u.size):
        out[i] = u[i]
    for _ in range((q - 1) // 2):
        for i in range(u.size):
            out[i] *= u[i] * u[i]


@inlined
def _write_change(
    product: Array, p: Array, f: Array, h: Array, new: Array, change: Array, sums: Array
) -> None:
    """Write new − h to `change` and add its sums."""
    fit, gap, square = 0.0, 0.0, 0.0
    for i in range(h.size):
        c = new[i] - h[i]
        change[i] = c
        fit += c * (product[i] - p[i])
        gap += c * (h[i] - f[i])
        square += c * c
    sums[0] += fit
    sums[1] += gap
    sums[2] += square


@jit_long_sums
def step_codes(
    product: Array,
    P: Array,
    U: Array,
    H: Array,
    change: Array,
    q: int,
    pulls: Array,
    momentum: float,
    step: float,
    ratio: float,
    signed: bool,
    levels: Array,
    out: Array,
    failed: Mask,
) -> Array:
    """Write the projection of H + momentum·change − step·gradient to `out`, and the change to `change`.

    The gradient is that of fit·‖X − WH‖² + infer·‖H − U^q‖² in H, where `product` is WᵀWH, P is WᵀX and
    `pulls` are (2·fit, 2·infer). Rows get ‖h‖₂ = 1 and ‖h‖₁ = ratio; with a ratio of 0 they are left
    to the caller. Where a row is not projected, `failed` says so and its change is not written.

    Returns ⟨Δ, WᵀWH − P⟩, ⟨Δ, H − U^q⟩ and ‖Δ‖² of the rows that are.

    Examples
    --------
    >>> H, one = np.array([[0.6, 0.8]]), np.ones((1, 2))
    >>> out, D, failed = np.empty((1, 2)), np.zeros((1, 2)), np.zeros(1, dtype=bool)
    >>> pulls, levels = np.array([1.0, 0.0]), np.full(1, -np.inf)
    >>> step_codes(one, 0 * one, one, H, D, 3, pulls, 0.0, 0.1, 0.0, True, levels, out, failed)
    array([0., 0., 0.])
    >>> out, failed
    (array([[0.5, 0.7]]), array([ True]))
    """
    kind = H.dtype.type
    m, s, a, b = kind(momentum), kind(step), kind(pulls[0]), kind(pulls[1])
    sums = np.zeros(3)
    f, kept = np.empty(H.shape[1], H.dtype), np.empty(H.shape[1] + 1, H.dtype)
    for j in range(H.shape[0]):
        write_powers(U[j], q, f)
        h, g, p, new, last = H[j], product[j], P[j], out[j], change[j]
        if momentum > 0:
            for i in range(h.size):
                new[i] = h[i] + m * last[i] - s * (a * (g[i] - p[i]) + b * (h[i] - f[i]))
        else:
            for i in range(h.size):
                new[i] = h[i] - s * (a * (g[i] - p[i]) + b * (h[i] - f[i]))
        failed[j] = ratio == 0 or not project_row(new, ratio, 1.0, signed, levels[j : j + 1], kept)
        if not failed[j]:
            _write_change(g, p, f, h, new, last, sums)
    return sums


@jit_long_sums
def code_changes(
    product: Array, P: Array, U: Array, H: Array, new: Array, q: int, change: Array, sums: Array
) -> None:
    """Write new − H to `change` and add the sums that `step_codes` returns to `sums`.

    Examples
    --------
    >>> one, sums, D = np.ones((1, 2)), np.zeros(3), np.empty((1, 2))
    >>> code_changes(2 * one, one, 0 * one, one, 3 * one, 3, D, sums)
    >>> sums
    array([4., 4., 8.])
    """
    f = np.empty(H.shape[1], H.dtype)
    for j in range(H.shape[0]):
        write_powers(U[j], q, f)
        _write_change(product[j], P[j], f, H[j], new[j], change[j], sums)
