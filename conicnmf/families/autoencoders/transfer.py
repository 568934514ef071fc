"""The transfer function f(x) = tanh(βx)^q, and inference with it."""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.inputs import responses
from conicnmf.types import Array, Data

_CACHED = 1 << 16
"""So many numbers stay near the processor from one pass to the next."""


def respond(P: Array, theta: Array, beta: Array, out: Array | None = None) -> Array:
    """Return tanh(β(P + θ)), one β and one θ a row, into `out` where it is given.

    Examples
    --------
    >>> respond(np.array([[0.5]]), np.array([[-0.5]]), np.array([[2.0]]))
    array([[0.]])
    """
    out = np.empty_like(P) if out is None else out
    rows = max(1, _CACHED // max(1, P.shape[1]))
    for first in range(0, len(P), rows):
        part = slice(first, first + rows)
        np.add(P[part], theta[part], out=out[part])
        out[part] *= beta[part]
        np.tanh(out[part], out=out[part])
    return out


def raised(U: Array, q: int, out: Array | None = None) -> Array:
    """Return U^q, q odd, into `out` where it is given.

    Examples
    --------
    >>> raised(np.array([-2.0]), 5)
    array([-32.])
    """
    square = U * U if q > 1 else U
    out = np.empty_like(U) if out is None else out
    out[...] = U
    for _ in range((q - 1) // 2):
        out *= square
    return out


def encode(X: Data, W: Array, theta: Array, beta: Array, q: int) -> Array:
    """Return the codes f(WᵀX + θ) of samples (columns): one matrix product and f.

    Examples
    --------
    >>> encode(np.eye(2), np.eye(2), np.zeros((2, 1)), np.ones((2, 1)), 3).round(3)
    array([[0.442, 0.   ],
           [0.   , 0.442]])
    """
    P = responses(W.T, X)
    return raised(respond(P, theta, beta, out=P), q, out=P)


def answer(codes: Array, w_out: Array, theta_out: Array) -> Array:
    """Return tanh(w_outᵀ codes + θ_out), one a sample.

    Examples
    --------
    >>> answer(np.eye(2), np.array([[0.0], [9.0]]), np.zeros((1, 1))).round(6)
    array([0., 1.])
    """
    return np.asarray(np.tanh(w_out[:, 0] @ codes + theta_out[0, 0]))
