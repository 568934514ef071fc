"""The transfer function f(x) = tanh(βx)^q, and inference with it."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.autoencoders.inputs import as_filters, responses
from conicnmf.settings import Count, Rule, checks_arguments
from conicnmf.types import Array, Data
from conicnmf.validate import as_matrix

Odd: TypeAlias = Annotated[
    Count, Rule("that is odd", lambda q: q % 2 == 1, "the paper asks for 3 or more")
]
"""An exponent that keeps signs."""

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


@checks_arguments
def encode(X: Any, W: Any, theta: Any, beta: Any, q: Odd) -> Array:
    """Return the codes f(WᵀX + θ) of samples (columns): one matrix product and f.

    Parameters
    ----------
    X : array or sparse matrix of shape (d, M)
    W : array of shape (d, n)
    theta, beta : array of shape (n, 1)
    q : int
        Odd.

    Examples
    --------
    >>> encode(np.eye(2), np.eye(2), np.zeros((2, 1)), np.ones((2, 1)), 3).round(3)
    array([[0.442, 0.   ],
           [0.   , 0.442]])
    """
    V, A = as_filters(X, W)
    shape = A.shape[1], 1
    encoder = as_matrix(theta, "theta", shape), as_matrix(beta, "beta", shape)
    with np.errstate(all="ignore"):  # the codes tell, and they are fewer
        codes = transferred(V, A, *encoder, q)
    if not np.isfinite(codes).all():
        raise InputError("X must be finite, got samples whose codes are no numbers; leave them out")
    return codes


def transferred(X: Data, W: Array, theta: Array, beta: Array, q: int) -> Array:
    """Return the same for arrays that have been checked.

    Examples
    --------
    >>> transferred(np.eye(1), np.eye(1), np.zeros((1, 1)), np.ones((1, 1)), 1).round(3)
    array([[0.762]])
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
