"""The one pass of Huber's loss gives what its formula does, whichever way data are stored."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.kernels.huber import cut_residuals

RNG = np.random.default_rng(3)
BASE = RNG.standard_normal((120, 150))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "y",
    [BASE, BASE.T, BASE[:, 7:140], BASE[5:100].T, BASE[:, 7:140].T, BASE[:3, :4]],
    ids=["rows", "columns", "parts of rows", "parts of columns", "both", "few"],
)
def test_costs_and_cut_residuals_are_those_of_the_formula(y, dtype):
    y = y.astype(dtype, copy=False)
    p = RNG.standard_normal(y.shape).astype(dtype)
    p = np.asfortranarray(p) if y.strides[0] < y.strides[1] else p
    r, data = y.astype(float) - p, y.copy()
    value, cut = cut_residuals(y, p, 0.7)
    expected = np.where(abs(r) <= 0.7, r**2, 0.7 * (2 * abs(r) - 0.7)).sum()
    assert value == pytest.approx(expected, rel=1e-12 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(cut, np.clip(r, -0.7, 0.7), rtol=0, atol=1e-6)
    assert np.array_equal(y, data)


def test_both_blocks_of_a_factor_see_one_loss():
    V, W, H = BASE, RNG.random((120, 4)), RNG.random((4, 150))
    loss = cn.Huber(0.5)
    value, slope = loss.value(V, W, H), loss.gradient(V, W, H)
    own, turned = loss.majorize(V, W, H), loss.majorize(V.T, H.T, np.ascontiguousarray(W.T))
    assert own.value(H) == pytest.approx(value)
    assert turned.value(W.T) == pytest.approx(value)
    np.testing.assert_allclose(own.G @ H - own.C, slope, rtol=1e-9, atol=1e-9)
