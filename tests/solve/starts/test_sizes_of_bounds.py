"""Starts far smaller than the bounds of a factor are brought into these all the same."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn


@pytest.mark.parametrize("size", [1.0, 2.0**-40, 2.0**-99])
@pytest.mark.parametrize("smaller", [1.0, 2.0**-40, 2.0**-99])
def test_a_tiny_start_is_no_contradiction(size, smaller):
    """W = 2·size in one entry and 0 elsewhere satisfies all four constraints."""
    rng = np.random.default_rng(0)
    known = np.zeros((5, 3), dtype=bool)
    known[0, 0] = True
    W = [
        cn.FactorNorm(8 * size),
        cn.Convex(lambda W: (W[1, 0] + W[2, 1]) / size <= 1),
        cn.Fixed(known, np.where(known, 2 * size, 0.0)),
        cn.Box(-size * np.ones((5, 3)), 4 * size),
    ]
    V = size * rng.random((5, 6))
    problem = cn.factorize(V, 3, W=W, H=[cn.NonNegative()])
    start = (smaller * size * rng.random((5, 3)), rng.random((3, 6)))
    made = problem.start(start, rng)
    assert np.linalg.norm(made["W"]) <= 8 * size * (1 + 1e-6)
    assert made["W"][0, 0] == pytest.approx(2 * size)
    assert (made["W"] >= -size * (1 + 1e-6)).all()
