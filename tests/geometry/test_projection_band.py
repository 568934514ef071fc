from __future__ import annotations

import numpy as np
import pytest
from hostile import SCALES, bands, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from conicnmf.geometry import hoyer_sparseness, project_band
from conicnmf.geometry.band import band_row


def ratio(n, s):
    return np.sqrt(n) - (np.sqrt(n) - 1) * s


def best_product(a, s_min, s_max):
    """Least upper bound of ⟨a,u⟩: min over λ of ‖(a − λ)₊‖ + λc, by golden sections.

    It bounds every unit u ≥ 0 of the band, so a u that reaches it is a global maximizer.
    """
    low, high = ratio(a.size, s_max), ratio(a.size, s_min)

    def bound(x):
        return np.linalg.norm(np.maximum(a - x, 0)) + x * (high if x > 0 else low)

    golden = (np.sqrt(5) - 1) / 2
    left, right = -100.0 * np.abs(a).max(), np.abs(a).max()
    for _ in range(90):
        gap = golden * (right - left)
        if bound(right - gap) < bound(left + gap):
            right = left + gap
        else:
            left = right - gap
    return min(bound(left), bound(0.0), bound(a.max()))


def in_band(u, s_min, s_max, tol):
    norms = np.linalg.norm(u, axis=-1)
    total = u.sum(axis=-1)
    n = u.shape[-1]
    return (total >= (ratio(n, s_max) - tol) * norms) & (total <= (ratio(n, s_min) + tol) * norms)


@settings(max_examples=300, deadline=None)
@given(rows(), bands())
def test_no_direction_of_the_band_is_better(a, band):
    P, U = project_band(a[None], *band)
    size = np.abs(a).max()
    if band[1] >= 0.01:  # at s_max = 0 the bound is reached only as λ → −∞
        assert a @ U[0] >= best_product(a, *band) - 1e-10 * size
    np.testing.assert_allclose(P[0], max(0.0, a @ U[0]) * U[0], rtol=1e-12, atol=1e-14 * size)


@settings(max_examples=300, deadline=None)
@given(rows(), bands(), SCALES)
def test_directions_are_unit_nonnegative_and_in_the_band(a, band, scale):
    P, U = project_band(scale * a[None], *band)
    assert (P >= 0).all()
    assert (U >= 0).all()
    assert abs(np.linalg.norm(U) - 1) <= 1e-14
    assert in_band(U[0], *band, tol=1e-13)


@settings(max_examples=150, deadline=None)
@given(rows(), bands(), SCALES)
def test_scale_changes_only_the_length(a, band, scale):
    P, U = project_band(a[None], *band)
    scaled_P, scaled_U = project_band(scale * a[None], *band)
    np.testing.assert_allclose(scaled_U, U, atol=1e-14)
    np.testing.assert_allclose(scaled_P / scale, P, atol=1e-14)


@settings(max_examples=150, deadline=None)
@given(rows(), bands())
def test_projected_points_stay(a, band):
    P, _ = project_band(a[None], *band)
    again, _ = project_band(P, *band)
    np.testing.assert_allclose(again, P, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(rows(), bands())
def test_float32_is_kept_and_close(a, band):
    single = a[None].astype(np.float32)
    P, U = project_band(single, *band)
    assert P.dtype == U.dtype == np.float32
    exact, _ = project_band(single.astype(np.float64), *band)
    np.testing.assert_allclose(P, exact, atol=2e-6)
    assert in_band(U.astype(np.float64)[0], *band, tol=2e-6)


def unit_grid(n):
    """Unit vectors u ≥ 0 on a fine grid of angles."""
    angles = np.linspace(0, np.pi / 2, 801)
    if n == 2:
        return np.column_stack([np.cos(angles), np.sin(angles)])
    a, b = (x.ravel() for x in np.meshgrid(angles, angles))
    return np.column_stack([np.cos(a), np.sin(a) * np.cos(b), np.sin(a) * np.sin(b)])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("band", [(0.5, 1.0), (0.0, 0.4), (0.3, 0.7), (0.6, 0.62)])
def test_agrees_with_a_grid_of_directions(n, band):
    grid = unit_grid(n)
    grid = grid[in_band(grid, *band, tol=2e-3)]
    X = np.random.default_rng(n).normal(size=(60, n))
    _, U = project_band(X, *band)
    ours = (X * U).sum(axis=1)
    best = (X @ grid.T).max(axis=1)
    np.testing.assert_allclose(ours, best, atol=0.02)


@pytest.mark.parametrize("n", [5, 40])
def test_no_sampled_direction_is_better(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(30, n))
    samples = rng.gamma(0.3, size=(20000, n)) * rng.random((20000, n)) ** 3
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    samples = samples[in_band(samples, 0.45, 0.7, tol=0.0)]
    assert len(samples) > 1000
    _, U = project_band(X, 0.45, 0.7)
    assert ((X * U).sum(axis=1) >= (X @ samples.T).max(axis=1)).all()


def test_points_of_the_band_come_back_unchanged():
    X = np.array([[3.0, 1.0, 0.0, 0.0], [0.1, 0.7, 0.2, 0.0]])
    P, U = project_band(X, 0.1, 0.9)
    np.testing.assert_array_equal(P, X)
    np.testing.assert_allclose(U, X / np.linalg.norm(X, axis=1, keepdims=True), rtol=1e-15)


def test_limits_give_one_entry_or_a_constant():
    X = np.array([[1.0, 3.0, 2.0], [3.0, 3.0, -1.0], [-2.0, -1.0, -1.0], [0.0, 0.0, 0.0]])
    P, U = project_band(X, 1.0, 1.0)
    np.testing.assert_array_equal(U.argmax(axis=1), [1, 0, 1, 0])
    np.testing.assert_array_equal(U.max(axis=1), 1)
    np.testing.assert_array_equal(P.max(axis=1), [3, 3, 0, 0])
    P, U = project_band(X, 0.0, 0.0)
    np.testing.assert_allclose(U, 1 / np.sqrt(3))
    np.testing.assert_allclose(P, np.maximum(X.mean(axis=1), 0)[:, None] * np.ones(3))


def test_one_entry_ignores_the_band():
    P, U = project_band(np.array([[2.5], [-1.0], [0.0]]), 0.2, 0.4)
    np.testing.assert_array_equal(P, [[2.5], [0.0], [0.0]])
    np.testing.assert_array_equal(U, 1.0)


def test_rows_without_a_positive_entry_collapse_to_their_sparsest_direction():
    X = np.array([[-1.0, -0.5, -3.0, -0.5], [0.0, 0.0, 0.0, 0.0]])
    P, U = project_band(X, 0.3, 0.8)
    np.testing.assert_array_equal(P, 0.0)
    np.testing.assert_allclose(hoyer_sparseness(U), 0.8, rtol=1e-13)
    np.testing.assert_array_equal(U.argmax(axis=1), [1, 0])


def test_ties_at_the_maximum_fill_from_the_lowest_index():
    P, U = project_band(np.ones((1, 9)), 0.5, 1.0)
    np.testing.assert_allclose(hoyer_sparseness(U), 0.5, rtol=1e-13)
    assert (np.flatnonzero(U[0]) == np.arange(4)).all()
    assert U[0].argmax() == 0
    again, _ = project_band(np.ones((1, 9)), 0.5, 1.0)
    np.testing.assert_array_equal(P, again)


@pytest.mark.parametrize("s", [0.05, 0.5, 0.95, 0.9999])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: np.exp(10 * rng.normal(size=n)),
        lambda rng, n: -np.exp(-np.linspace(0, 600, n)),
        lambda rng, n: 1 - np.exp(-30 * rng.random(n)),
        lambda rng, n: rng.integers(0, 3, n).astype(float),
    ],
    ids=["normal", "lognormal", "600 e-folds", "near ties", "ties"],
)
def test_long_rows_meet_the_band(draw, s):
    a = draw(np.random.default_rng(0), 100_000)
    _, U = project_band(a[None], s, s)
    assert abs(U.sum() / ratio(a.size, s) - 1) <= 1e-12
    assert abs(np.linalg.norm(U) - 1) <= 1e-12


def test_input_is_unchanged_and_may_be_read_only_or_strided():
    X = np.random.default_rng(0).normal(size=(6, 8))
    kept = X.copy()
    expected, _ = project_band(X, 0.5, 0.9)
    np.testing.assert_array_equal(X, kept)
    X.flags.writeable = False
    np.testing.assert_array_equal(project_band(X, 0.5, 0.9)[0], expected)
    np.testing.assert_array_equal(project_band(np.asfortranarray(X), 0.5, 0.9)[0], expected)


def test_row_kernel_serves_compiled_loops():
    @njit
    def sweep(X, out, u):
        for i in range(X.shape[0]):
            band_row(X[i], 0.4, 0.6, out[i], u)

    X = np.random.default_rng(1).normal(size=(3, 7))
    out, u = np.empty_like(X), np.empty(7)
    sweep(X, out, u)
    P, U = project_band(X, 0.4, 0.6)
    np.testing.assert_array_equal(out, P)
    np.testing.assert_array_equal(u, U[-1])


@settings(max_examples=100, deadline=None)
@given(rows(), st.sampled_from([np.float64, np.float32]))
def test_sparseness_matches_its_definition(a, dtype):
    a = a.astype(dtype)
    measured = hoyer_sparseness(a[None])
    assert measured.dtype == dtype
    n, norm = a.size, np.linalg.norm(a.astype(np.float64))
    if norm == 0:
        assert np.isnan(measured[0])
    elif n == 1:
        assert measured[0] == 1.0
    else:
        expected = (np.sqrt(n) - np.abs(a.astype(np.float64)).sum() / norm) / (np.sqrt(n) - 1)
        np.testing.assert_allclose(
            measured[0], expected, atol=1e-6 if dtype == np.float32 else 1e-14
        )


def test_sparseness_survives_extreme_scales():
    x = np.array([3.0, -1.0, 0.5, 0.0])
    X = np.stack([x * 1e-200, x, x * 1e200, x * 1e-320])
    np.testing.assert_allclose(hoyer_sparseness(X), hoyer_sparseness(x[None])[0], rtol=1e-3)
    np.testing.assert_allclose(hoyer_sparseness(X[:3]), hoyer_sparseness(x[None])[0], rtol=1e-14)


def test_rows_of_too_few_digits_keep_their_sparseness():
    tiny = np.array([[1.6e-42, 9.3e-42, 3.2e-41, 0.0]], dtype=np.float32)
    P, _ = project_band(tiny, 0.12, 0.3)
    assert 0 < P.max() < 1e-30
    assert 0.12 - 1e-6 <= hoyer_sparseness(P)[0] <= 0.3 + 1e-6
