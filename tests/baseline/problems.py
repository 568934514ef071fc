"""Small problems of every kind, for the stored numbers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

RANK = 3


def data(rows=9, columns=7, seed=3):
    """Return non-negative data near rank three."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((rows, RANK)) ** 2, rng.random((RANK, columns))
    return W @ H + 0.02 * rng.random((rows, columns))


def problems():
    """Return every problem by name, as a function that states it."""
    return {name: (lambda state=state: state(data())) for name, state in _STATED.items()}


def _terms(W=(), H=(), **options):
    plus = cn.NonNegative()
    return lambda V: cn.factorize(V, RANK, W=[plus, *W], H=[plus, *H], **options)


def _signed(V):
    return cn.factorize(V - 0.3, RANK, W=[], H=[cn.L2(0.1)])


def _signed_sparse(V):
    return cn.factorize(V - 0.3, RANK, W=[cn.Sparseness(min=0.5)], H=[cn.NonNegative()])


def _known(V):
    mask = np.zeros((9, RANK), dtype=bool)
    mask[:, 0] = True
    known = cn.Fixed(mask, np.linspace(0, 1, 9)[:, None])
    return cn.factorize(V, RANK, W=[cn.NonNegative(), known])


def _weighted(V, sparse=False):
    weights = (np.random.default_rng(5).random(V.shape) > 0.2) * 1.0
    loss = cn.WeightedFrobenius(sp.csr_array(weights) if sparse else weights)
    return cn.factorize(V, RANK, loss=loss)


def _steps(W):
    return cp.abs(cp.diff(W, axis=0)) <= 0.6


def _roughness(W):
    return 0.1 * cp.sum_squares(cp.diff(W, axis=0))


def _algebra(V, loss=cp.sum_squares):
    W = cp.Variable((9, RANK), nonneg=True, name="W")
    H = cp.Variable((RANK, 7), nonneg=True, name="H")
    bounds = [cn.sparseness(W, axis=0) >= 0.4, H <= 2]
    return cn.Problem(cp.Minimize(loss(V - W @ H) + 0.05 * cp.sum(H)), bounds)


def _huber(V):
    return _algebra(V, lambda R: cp.sum(cp.huber(R, 0.1)))


_STATED = {
    "plain": _terms(),
    "penalised": _terms([cn.L2(0.05)], [cn.L1(0.1)]),
    "signed": _signed,
    "signed sparse": _signed_sparse,
    "box": _terms([cn.Box(0, 0.4)]),
    "unit": _terms([cn.UnitNorm()]),
    "ball": _terms([cn.NormBall(0.8)]),
    "sparse W": _terms([cn.Sparseness(min=0.5)]),
    "prescribed H": _terms([], [cn.Sparseness(0.4, 0.4)]),
    "dense H": _terms([], [cn.Sparseness(max=0.2)]),
    "band and unit": _terms([cn.Sparseness(0.4, 0.7), cn.UnitNorm()]),
    "sparse samples": _terms([], [cn.Sparseness(min=0.4, each="sample")]),
    "simplex": _terms([], [cn.Simplex(each="sample")]),
    "known": _known,
    "convex": _terms([cn.Convex(_steps), cn.ConvexPenalty(_roughness)]),
    "labels": _terms([], [cn.Labels([0, 0, 1, 1, 1, -1, 2], 0.3)]),
    "reward": _terms([cn.SparsenessReward(0.05)]),
    "weighted": _weighted,
    "sparse weights": lambda V: _weighted(V, sparse=True),
    "sparse data": lambda V: cn.factorize(sp.csr_array(np.where(V > 0.3, V, 0)), RANK),
    "single": lambda V: cn.factorize(V.astype(np.float32), RANK),
    "capped": _terms([cn.L1(0.1)], loss=cn.Frobenius(cap=0.5)),
    "algebra": _algebra,
    "huber": _huber,
}
