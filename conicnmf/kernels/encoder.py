"""Codes f(WᵀX + θ), f(x) = tanh(βx)^q: their distance to other codes, and its derivatives.

Everything is computed from U = tanh(β(WᵀX + θ)), which is evaluated once a point. Rows are codes of
one filter, columns are samples.
"""

from __future__ import annotations

from conicnmf.geometry.compilers import jit
from conicnmf.types import Array


@jit
def code_energy(U: Array, P: Array, H: Array, q: int) -> tuple[float, float]:
    """Return ‖U^q − H‖² and ⟨P,H⟩, q odd, summed in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[8.0, 3.0]])
    >>> code_energy(np.array([[2.0, 1.0]]), np.ones((1, 2)), H, 3)
    (4.0, 11.0)
    """
    gap, dot = 0.0, 0.0
    half, width = (q - 1) // 2, U.shape[1]
    for j in range(U.shape[0]):
        g, d = 0.0, 0.0
        for i in range(width):
            u, h = U[j, i], H[j, i]
            square = u * u
            f = square * u
            if half != 1:
                f = u
                for _ in range(half):
                    f *= square
            r = f - h
            g += r * r
            d += P[j, i] * h
        gap += g
        dot += d
    return gap, dot


@jit
def power_sum(U: Array, w: Array, q: int, out: Array) -> None:
    """Write wᵀU^q, one number a sample, to `out`.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty(1)
    >>> power_sum(np.array([[2.0], [1.0]]), np.array([1.0, 5.0]), 3, out)
    >>> out
    array([13.])
    """
    out[:] = 0.0
    half = (q - 1) // 2
    for j in range(U.shape[0]):
        for i in range(U.shape[1]):
            u = U[j, i]
            square, f = u * u, u
            for _ in range(half):
                f *= square
            out[i] += w[j] * f


@jit
def code_gradient(
    GH: Array, P: Array, H: Array, U: Array, q: int, fit: float, infer: float
) -> None:
    """Turn GH into the gradient of fit·‖X − WH‖² + infer·‖H − U^q‖² in H, P being WᵀX.

    Examples
    --------
    >>> import numpy as np
    >>> GH = np.array([[3.0]])
    >>> one = np.array([[1.0]])
    >>> code_gradient(GH, one, np.array([[5.0]]), np.array([[2.0]]), 3, 0.5, 0.25)
    >>> GH
    array([[0.5]])
    """
    half = (q - 1) // 2
    a, b = GH.dtype.type(2 * fit), GH.dtype.type(2 * infer)
    for j in range(H.shape[0]):
        for i in range(H.shape[1]):
            u = U[j, i]
            square = u * u
            f = square * u
            if half != 1:
                f = u
                for _ in range(half):
                    f *= square
            GH[j, i] = a * (GH[j, i] - P[j, i]) + b * (H[j, i] - f)


@jit
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
    >>> import numpy as np
    >>> D, one, zero = np.empty((1, 1)), np.array([[1.0]]), np.zeros(1)
    >>> encoder_pull(0.5 * one, 0 * one, one[0], 1, 1.0, 0.0, zero, zero, D)
    >>> D.item()
    0.75
    """
    half = (q - 1) // 2
    gain, back = U.dtype.type(2 * infer), U.dtype.type(2 * fit)
    for j in range(U.shape[0]):
        b, own = U.dtype.type(q * beta[j]), U.dtype.type(w[j])
        for i in range(U.shape[1]):
            u, h = U[j, i], H[j, i]
            square = u * u
            f = square
            if half != 1:
                f = U.dtype.type(1)
                for _ in range(half):
                    f *= square
            pull = gain * (f * u - h) + own * delta[i]
            D[j, i] = pull * f * (1 - square) * b - back * h


@jit
def encoder_slopes(
    U: Array,
    P: Array,
    H: Array,
    theta: Array,
    beta: Array,
    q: int,
    infer: float,
    w: Array,
    delta: Array,
    slopes: Array,
) -> None:
    """Write derivatives of infer·‖H − U^q‖² + ⟨w δᵀ, U^q⟩ to `slopes`, one row a filter.

    The first two are those in θ and β; then come the curvatures of the squared gap (their
    Gauss–Newton part) along θ, along β and across both, and last ‖H − U^q‖² and ⟨δ, U^q⟩.

    Examples
    --------
    >>> import numpy as np
    >>> slopes, one, zero = np.empty((1, 7)), np.array([[1.0]]), np.zeros(1)
    >>> encoder_slopes(0.5 * one, one, 0 * one, zero, one[0], 1, 1.0, zero, zero, slopes)
    >>> slopes[0, :2].tolist()
    [0.75, 0.75]
    """
    half = (q - 1) // 2
    gain = U.dtype.type(2 * infer)
    for j in range(U.shape[0]):
        s0, s1, s2, s3, s4, gap, pull = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        b, shift, own = U.dtype.type(beta[j]), U.dtype.type(theta[j]), U.dtype.type(w[j])
        for i in range(U.shape[1]):
            u = U[j, i]
            square = u * u
            f = square
            if half != 1:
                f = U.dtype.type(1)
                for _ in range(half):
                    f *= square
            slope = f * (1 - square)
            r = f * u - H[j, i]
            d = (gain * r + own * delta[i]) * slope
            x = P[j, i] + shift
            y = slope * x
            s0 += d
            s1 += d * x
            s2 += slope * slope
            s3 += y * y
            s4 += slope * y
            gap += r * r
            pull += delta[i] * f * u
        slopes[j, 0], slopes[j, 1] = q * s0 * b, q * s1
        slopes[j, 2], slopes[j, 3] = gain * s2 * (q * b) ** 2, gain * s3 * q**2
        slopes[j, 4] = gain * s4 * q**2 * b
        slopes[j, 5], slopes[j, 6] = gap, pull


@jit
def row_errors(u: Array, h: Array, q: int, delta: Array) -> tuple[float, float]:
    """Return ‖u^q − h‖² and ⟨δ, u^q⟩ of one filter.

    Examples
    --------
    >>> import numpy as np
    >>> row_errors(np.array([2.0, 1.0]), np.array([8.0, 3.0]), 3, np.ones(2))
    (4.0, 9.0)
    """
    gap, pull = 0.0, 0.0
    half = (q - 1) // 2
    for i in range(u.shape[0]):
        square, f = u[i] * u[i], u[i]
        for _ in range(half):
            f *= square
        r = f - h[i]
        gap += r * r
        pull += delta[i] * f
    return gap, pull
