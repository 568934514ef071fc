"""The quotient that stands for tanh in single precision, against NumPy in double precision."""

from __future__ import annotations

import numpy as np

from conicnmf.geometry.compilers import jit
from conicnmf.kernels.tanh import write_tanh


@jit
def compiled(x, shift, slope, out):
    write_tanh(x, shift, slope, out)


def tanh(x, shift=0.0, slope=1.0):
    out = np.empty_like(x)
    compiled(x, shift, slope, out)
    return out


def test_single_precision_is_within_three_units_of_the_seventh_digit():
    x = np.concatenate([np.linspace(-12, 12, 40_001), np.logspace(-30, 0, 500)]).astype(np.float32)
    assert np.abs(tanh(x) - np.tanh(x.astype(float))).max() < 3e-7
    small = np.abs(x) < 1e-3
    np.testing.assert_allclose(tanh(x)[small], x[small], rtol=1e-6)
    np.testing.assert_allclose(tanh(x, 0.5, 2.0), np.tanh(2.0 * (x + 0.5)), atol=1e-6)


def test_double_precision_is_the_library_s_and_bad_numbers_stay():
    x = np.array([0.3, -20.0, np.nan, np.inf, -np.inf])
    np.testing.assert_allclose(tanh(x), np.tanh(x), rtol=1e-15)
    np.testing.assert_allclose(tanh(x.astype(np.float32)), np.tanh(x), rtol=3e-7)
