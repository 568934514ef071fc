"""Losses of data in single precision are as exact as their data."""

from __future__ import annotations

import numpy as np

from conicnmf.model.losses import Frobenius
from conicnmf.model.losses.frobenius import squared_norm
from conicnmf.model.terms.forms import Quadratic


def test_a_good_fit_has_the_value_that_double_precision_gives_it():
    rng = np.random.default_rng(0)
    A, B = (rng.random(shape).astype(np.float32) for shape in ((20, 5), (5, 3000)))
    Y = A @ B + 0.01 * rng.random((20, 3000)).astype(np.float32)
    G, C = Frobenius().quadratic(Y, A)
    value = Quadratic(G, C, squared_norm(Y)).value(B)
    exact = np.sum((Y.astype(float) - A.astype(float) @ B.astype(float)) ** 2)
    assert abs(value - exact) < 1e-7 * squared_norm(Y)
