"""Prescribed values beside one to three other constraints, drawn at random: exact in NumPy's eyes.

Every problem has a point by construction, at which bounds are tight or nearly so.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

SEED, FEW, MANY = 4400, 8, 120
AXES = {"component": 0, "sample": 1}


def sparseness(X, axis):
    n = X.shape[axis]
    ratio = np.abs(X).sum(axis) / np.linalg.norm(X, axis=axis)
    return (np.sqrt(n) - ratio) / (np.sqrt(n) - 1)


def prescribe(rng, W, signed):
    """Return a point, a term that prescribes something of it, and how far a factor is from that."""
    kind = rng.choice(["sparseness", "levels", "simplex", "total", "norm", "entries"])
    each = str(rng.choice(list(AXES))) if W.shape[1] > 1 else "component"
    axis, value = AXES[each], float(rng.uniform(0.5, 3.0))
    if kind == "sparseness":
        s = float(np.clip(sparseness(W, axis).mean(), 0.05, 0.9))
        band = cn.Sparseness(s, s, each=each)
        W = np.copysign(band.project(np.abs(W).T).T, W)
        return W, band, lambda X: np.abs(sparseness(X, axis) - s).max()
    if kind == "levels":
        levels = sparseness(W, 0)
        return W, cn.Sparseness(levels, levels), lambda X: np.abs(sparseness(X, 0) - levels).max()
    if kind == "simplex" and not signed:
        W = value * W / W.sum(axis, keepdims=True)
        return W, cn.Simplex(value, each), lambda X: np.abs(X.sum(axis) / value - 1).max()
    if kind == "norm":
        W = value * W / np.linalg.norm(W, axis=axis, keepdims=True)
        term = cn.UnitNorm(each, length=value)
        return W, term, lambda X: np.abs(np.linalg.norm(X, axis=axis) / value - 1).max()
    if kind == "entries":
        held, known = rng.random(W.shape) < 0.3, W.copy()
        return (
            W,
            cn.Fixed(held, known),
            lambda X: np.abs((X - known)[held]).max(initial=0.0) / np.abs(known).max(),
        )
    total = float(W.sum())
    return W, cn.FactorSum(total, equal=True), lambda X: abs(X.sum() / total - 1)


def bound(rng, P, signed):
    """Return a term that holds at P, often with nothing to spare, and how far a factor is outside."""
    loose, size = float(rng.choice([1.0, 1.05, 1.3])), np.abs(P).max()
    kind = rng.choice(["ball", "box", "steps", "pair", "row", "factor", "longer", "price"])
    if kind == "ball":
        each = str(rng.choice(list(AXES)))
        top = loose * np.linalg.norm(P, axis=AXES[each]).max()
        return cn.NormBall(top, each), lambda X: np.linalg.norm(X, axis=AXES[each]).max() / top - 1
    if kind == "box":
        top = loose * np.abs(P) + 0.1 * size * rng.random(P.shape)
        return cn.Box(-top if signed else 0.0, top), lambda X: (np.abs(X) - top).max() / size
    if kind == "steps":
        top = loose * np.abs(np.diff(P, axis=0)).max()
        return cn.Convex(
            lambda X: cp.abs(cp.diff(X, axis=0)) <= top
        ), lambda X: np.abs(np.diff(X, axis=0)).max() / top - 1
    if kind == "pair":
        top = (P[0] + P[1]).max() + 0.1 * (loose - 1) * size
        return cn.Convex(lambda X: X[0] + X[1] <= top), lambda X: (X[0] + X[1] - top).max() / size
    if kind == "row":
        total = P[0].sum()
        return cn.Convex(lambda X: cp.sum(X[0]) == total), lambda X: abs(X[0].sum() - total) / size
    if kind == "factor":
        top = loose * np.linalg.norm(P)
        return cn.FactorNorm(top), lambda X: np.linalg.norm(X) / top - 1
    if kind == "longer":
        least = 0.9 * np.linalg.norm(P, axis=0).min()
        return cn.ReverseConvex(
            lambda X: cp.norm(X, 2, axis=0) >= least
        ), lambda X: 1 - np.linalg.norm(X, axis=0).min() / least
    penalty = (cn.TotalVariation, cn.Smooth, cn.L1, cn.L2)[rng.integers(4)]
    return penalty(0.02), lambda X: 0.0


def draw_loss(rng, V, signed):
    """Return data and a loss that suits them."""
    kind = rng.choice(["squares", "squares", "masked", "magnitudes", "huber", "kl"])
    if kind == "masked":
        return V, cn.WeightedFrobenius((rng.random(V.shape) < 0.8) * 1.0)
    if kind == "kl" and not signed:
        return np.abs(V) + 1e-3, cn.KullbackLeibler()
    return V, {"magnitudes": cn.Absolute(), "huber": cn.Huber(0.3)}.get(kind)


def check(k):
    rng = np.random.default_rng([SEED, k])
    m, n, rank = (int(rng.integers(low, high)) for low, high in ((4, 11), (4, 11), (1, 5)))
    signed = rng.random() < 0.3
    W = rng.standard_normal((m, rank)) if signed else rng.random((m, rank)) ** 2 + 0.01
    W, term, gap = prescribe(rng, W, signed)
    terms = [term] if signed else [cn.NonNegative(), term]
    gaps = [(term, gap), (cn.NonNegative(), lambda X: 0.0 if signed else -X.min())]
    for _ in range(int(rng.integers(1, 4))):
        term, gap = bound(rng, W, signed)
        terms.append(term)
        gaps.append((term, gap))
    assert all(gap(W) <= 1e-9 for _, gap in gaps)
    V = W @ (rng.random((rank, n)) ** 2 + 0.01) + 0.02 * rng.standard_normal((m, n))
    V, loss = draw_loss(rng, V, signed)
    problem = cn.factorize(V, rank, W=terms, loss=loss)
    try:
        result = problem.solve(seed=0, throw=False, stop=10)
    except cn.IncompatibleError:
        return
    assert result.status.name != "BACKEND_FAILED", f"{k}: {result.remarks}"
    missed = [(str(term), own) for term, gap in gaps if (own := gap(result.W)) > 1e-6]
    assert not missed, f"{k}: {result.status.name} by {result.solver}, {missed}"


@pytest.mark.parametrize("k", range(FEW))
def test_prescribed_values_are_exact_beside_anything(k):
    check(k)


@pytest.mark.long
def test_so_they_are_in_a_hundred_problems():
    for k in range(FEW, MANY):
        check(k)
