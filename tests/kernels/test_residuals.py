"""One pass gives what Huber's loss and weighted squares are by their formulas, however stored."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.kernels.residuals import cut_residuals

RNG = np.random.default_rng(3)
BASE = RNG.standard_normal((120, 150))


WEIGHTS = np.where(RNG.random(BASE.shape) < 0.2, 0.0, RNG.random(BASE.shape))
PARTS = {
    "rows": lambda X: X,
    "columns": lambda X: X.T,
    "parts of rows": lambda X: X[:, 7:140],
    "parts of columns": lambda X: X[5:100].T,
    "both": lambda X: X[:, 7:140].T,
    "few": lambda X: X[:3, :4],
}
OF_ENTRIES = {
    "equal": lambda m: None,
    "own": lambda m: m,
    "of rows": lambda m: m[:, :1],
    "of columns": lambda m: m[:1],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("weights", OF_ENTRIES)
@pytest.mark.parametrize("delta", [0.7, np.inf])
def test_costs_and_cut_residuals_are_those_of_the_formula(part, weights, delta, dtype):
    y = PARTS[part](BASE.astype(dtype))
    m = OF_ENTRIES[weights](PARTS[part](WEIGHTS.astype(dtype)))
    p = RNG.standard_normal(y.shape).astype(dtype)
    p = np.asfortranarray(p) if y.strides[0] < y.strides[1] else p
    M = np.broadcast_to(1.0 if m is None else m, y.shape).astype(float)
    p[M == 0] = np.inf  # what has no weight
    r, data = np.where(M > 0, y.astype(float) - p, 0.0), y.copy()
    value, cut = cut_residuals(y, p, delta, -2.0, m)
    inside = np.clip(r, -delta, delta)
    accuracy = 1e-12 if dtype == np.float64 else 1e-5
    assert value == pytest.approx((M * inside * (2 * r - inside)).sum(), rel=accuracy)
    np.testing.assert_allclose(cut, -2 * M * inside, rtol=0, atol=1e-6)
    assert np.array_equal(y, data)


@pytest.mark.parametrize("delta", [0.7, np.inf])
@pytest.mark.parametrize("m", [None, WEIGHTS + 1])
def test_an_infinite_model_costs_infinitely_much(m, delta):
    p = np.zeros(BASE.shape)
    p[3, 5] = np.inf
    assert cut_residuals(BASE, p, delta, m=m)[0] == np.inf


def test_both_blocks_of_a_factor_see_one_loss():
    V, W, H = BASE, RNG.random((120, 4)), RNG.random((4, 150))
    loss = cn.Huber(0.5)
    value, slope = loss.value(V, W, H), loss.gradient(V, W, H)
    own, turned = loss.majorize(V, W, H), loss.majorize(V.T, H.T, np.ascontiguousarray(W.T))
    assert own.value(H) == pytest.approx(value)
    assert turned.value(W.T) == pytest.approx(value)
    np.testing.assert_allclose(own.G @ H - own.C, slope, rtol=1e-9, atol=1e-9)
