"""Descent over rows of a sparseness band against the same updates written out."""

from __future__ import annotations

import numpy as np
import pytest

from conicnmf.geometry import hoyer_sparseness, project_band
from conicnmf.kernels.descent import descend_band


def block(seed, r=4, n=30):
    rng = np.random.default_rng(seed)
    A, Y = rng.random((20, r)), rng.random((20, n))
    B, _ = project_band(rng.random((r, n)), 0.5, 0.7)
    return A.T @ A, A.T @ Y, B


def value(G, C, B):
    return 0.5 * np.vdot(B, G @ B) - np.vdot(C, B)


@pytest.mark.parametrize("bounds", [(0.5, 0.7), (0.6, 0.6), (0.0, 0.4), (0.8, 1.0), (0.0, 1.0)])
def test_sweeps_are_exact_updates_of_one_row_after_the_other(bounds):
    G, C, B = block(0)
    expected = B.copy()
    for _ in range(3):
        for j in range(len(B)):
            target = expected[j] + (C[j] - G[j] @ expected) / G[j, j]
            expected[j] = project_band(target[None], *bounds)[0]
    np.testing.assert_allclose(descend_band(G, C, B, *bounds, sweeps=3), expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_falls_from_a_feasible_point_and_rows_stay_in_the_band(seed):
    G, C, B = block(seed)
    kept = B.copy()
    new = descend_band(G, C, B, 0.5, 0.7, sweeps=1)
    assert value(G, C, new) <= value(G, C, B)
    sparseness = hoyer_sparseness(new)
    assert ((sparseness > 0.5 - 1e-9) & (sparseness < 0.7 + 1e-9)).all()
    np.testing.assert_array_equal(B, kept)


def test_a_row_that_nothing_asks_for_gets_shorter_but_stays_in_the_band():
    B, _ = project_band(np.random.default_rng(1).random((1, 9)), 0.6, 1.0)
    new = descend_band(np.eye(1), -np.ones((1, 9)), B, 0.6, 1.0, sweeps=1)
    np.testing.assert_allclose(new, B / 10)


@pytest.mark.parametrize("C", [-np.ones((1, 5)), np.array([[-1.0, 0, 0, 0, 0]])])
@pytest.mark.parametrize("curvature", [1.0, 0.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_gets_shorter_and_shorter_stays_in_the_band_for_ever(C, curvature, dtype):
    B, _ = project_band(np.array([[3.0, 2.0, 1.0, 0.5, 0.0]], dtype=dtype), 0.3, 0.6)
    G = np.full((1, 1), curvature, dtype=dtype)
    new = descend_band(G, C.astype(dtype), B, 0.3, 0.6, sweeps=1000)
    np.testing.assert_allclose(hoyer_sparseness(new), hoyer_sparseness(B), rtol=1e-6)
    # A change of units by any power of two that data have must not make it zero either.
    assert (new * dtype(2.0**-60)).any()


def test_single_precision_is_kept():
    G, C, B = (X.astype(np.float32) for X in block(2))
    assert descend_band(G, C, B, 0.5, 0.7, sweeps=2).dtype == np.float32


def test_the_row_of_a_zero_atom_is_shortened_where_it_costs():
    G, C, B = np.diag([1.0, 0.0]), np.array([[1.0, 0.0], [-1.0, -1.0]]), np.array([[1.0, 0.0]] * 2)
    assert descend_band(G, C, B, 0.0, 0.5, sweeps=1)[1].tolist() == [0.0, 0.0]
    assert descend_band(G, C, B, 0.5, 1.0, sweeps=1)[1].tolist() == [0.1, 0.0]
