from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from hostile import SCALES, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.geometry import (
    project_l0,
    project_l0_within,
    project_l1_ball,
    project_norm_ball,
    project_simplex,
    project_unit_norm,
    project_unit_norm_within,
)

BOTH = st.booleans()
RADII = st.sampled_from([0.0, 0.3, 1.0, 4.0])
many = settings(max_examples=150, deadline=None)
few = settings(max_examples=40, deadline=None)


def simplex_by_sorting(x, total):
    """Try every size of support, from the largest entries down."""
    ordered = np.sort(x)[::-1]
    levels = (np.cumsum(ordered) - total) / np.arange(1, x.size + 1)
    level = levels[np.flatnonzero(ordered > levels)[-1]]
    return np.maximum(x - level, 0)


@many
@given(rows(), st.sampled_from([1e-3, 1.0, 5.0]), SCALES)
def test_simplex_agrees_with_sorting(x, total, scale):
    P = project_simplex(scale * x[None], scale * total) / scale
    np.testing.assert_allclose(P[0], simplex_by_sorting(x, total), atol=1e-13)
    np.testing.assert_allclose(P.sum(), total, rtol=1e-14)
    assert (P >= 0).all()


def test_simplex_with_far_larger_entries_or_totals():
    np.testing.assert_array_equal(project_simplex([[1e200, 0.0, 1e200]], 1.0), [[0.5, 0.0, 0.5]])
    np.testing.assert_allclose(project_simplex([[1.0, 2.0]], 1e200), [[5e199, 5e199]])
    np.testing.assert_array_equal(project_simplex([[1.0, 2.0]], 0.0), [[0.0, 0.0]])
    np.testing.assert_allclose(
        project_simplex([[1.0, 2.0], [2.0, 1.0]], [1.0, 9.0]), [[0, 1], [5, 4]]
    )


def test_long_rows_meet_the_simplex():
    x = np.random.default_rng(0).normal(size=(1, 100_000))
    for total in (1e-3, 1.0, 1e6):
        assert abs(project_simplex(x, total).sum() / total - 1) <= 1e-12


@few
@given(rows(), RADII, BOTH)
def test_balls_agree_with_a_cone_solver(x, radius, nonneg):
    for project, p in ((project_l1_ball, 1), (project_norm_ball, 2)):
        point = project(x[None], radius, nonneg=nonneg)[0]
        assert np.linalg.norm(point, p) <= radius * (1 + 1e-14)
        assert not nonneg or (point >= 0).all()
        w = cp.Variable(x.size, nonneg=nonneg)
        problem = cp.Problem(cp.Minimize(cp.norm(w - x, 2)), [cp.norm(w, p) <= radius])
        assert np.linalg.norm(point - x) <= problem.solve(solver=cp.CLARABEL) + 1e-6


@many
@given(rows(), BOTH, SCALES)
def test_points_of_a_ball_stay(x, nonneg, scale):
    x = scale * (np.abs(x) if nonneg else x)
    np.testing.assert_array_equal(project_l1_ball(x[None], 100 * scale, nonneg=nonneg)[0], x)
    np.testing.assert_array_equal(project_norm_ball(x[None], 100 * scale, nonneg=nonneg)[0], x)


@many
@given(rows(), SCALES)
def test_norm_ball_keeps_the_direction(x, scale):
    P = project_norm_ball(scale * x[None], 0.5)
    norm = np.linalg.norm(x)
    if norm * scale > 0.5:
        np.testing.assert_allclose(P[0], 0.5 * x / norm, rtol=1e-13, atol=1e-300)


@many
@given(rows(), BOTH, SCALES)
def test_unit_vectors_are_nearest(x, nonneg, scale):
    u = project_unit_norm(scale * x[None], nonneg=nonneg)[0]
    part = np.maximum(x, 0) if nonneg else x
    assert abs(np.linalg.norm(u) - 1) <= 1e-14
    if np.linalg.norm(part) > 0:
        np.testing.assert_allclose(x @ u, np.linalg.norm(part), rtol=1e-12)
    else:
        assert x @ u == x.max()  # a single largest entry
        assert u[int(np.argmax(x))] == 1


@many
@given(rows(), st.integers(0, 10), BOTH)
def test_l0_keeps_the_best_support(x, k, nonneg):
    p = project_l0(x[None], k, nonneg=nonneg)[0]
    part = np.maximum(x, 0) if nonneg else x
    assert np.count_nonzero(p) <= k
    assert ((p == 0) | (p == part)).all()
    supports = combinations(range(x.size), min(k, x.size))
    best = max(sum(part[i] ** 2 for i in support) for support in supports)
    np.testing.assert_allclose(p @ p, best, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_l0_within_bounds_is_the_nearest_of_all_supports(seed):
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=6), int(rng.integers(1, 5))
    low = np.where(rng.random(6) < 0.5, -np.inf, rng.normal(size=6) - 1)
    high = np.maximum(low, 0.0) + np.where(rng.random(6) < 0.5, rng.random(6), np.inf)
    forced = (low > 0) | (high < 0)
    k = max(k, int(forced.sum()))
    p = project_l0_within(x[None], k, low[None], high[None])[0]
    reached = []
    for support in combinations(range(6), k):
        kept = np.isin(np.arange(6), support)
        if not (forced & ~kept).any():
            reached.append(np.sum((np.where(kept, np.clip(x, low, high), 0.0) - x) ** 2))
    assert np.count_nonzero(p) <= k
    assert ((low <= p) & (p <= high)).all()
    np.testing.assert_allclose(np.sum((p - x) ** 2), min(reached), rtol=1e-12)


def test_l0_keeps_the_lowest_index_among_equals():
    X = np.array([[1.0, -2.0, 2.0, 2.0, -1.0]])
    np.testing.assert_array_equal(project_l0(X, 2), [[0.0, -2.0, 2.0, 0.0, 0.0]])
    np.testing.assert_array_equal(project_l0(X, 1, nonneg=True), [[0.0, 0.0, 2.0, 0.0, 0.0]])


def test_l0_of_long_rows_agrees_with_sorting():
    X = np.random.default_rng(0).integers(-500, 500, size=(5, 2001)).astype(float)
    for k in (1, 17, 1000, 2001):
        order = np.argsort(-np.abs(X), axis=1, kind="stable")[:, :k]
        expected = np.zeros_like(X)
        np.put_along_axis(expected, order, np.take_along_axis(X, order, axis=1), axis=1)
        np.testing.assert_array_equal(project_l0(X, k), expected)


@pytest.mark.parametrize(
    "project",
    [
        project_simplex,
        project_l1_ball,
        project_norm_ball,
        project_unit_norm,
        lambda X: project_l0(X, 3),
    ],
    ids=["simplex", "l1_ball", "norm_ball", "unit_norm", "l0"],
)
def test_float32_is_kept_and_inputs_are_unchanged(project):
    X = np.random.default_rng(0).normal(size=(4, 20)).astype(np.float32)
    kept = X.copy()
    P = project(X)
    assert P.dtype == np.float32
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_allclose(P, project(X.astype(np.float64)), atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_no_point_of_the_sphere_within_bounds_is_nearer(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    w = np.abs(rng.standard_normal(n))
    w /= np.linalg.norm(w)
    fixed = rng.random(n) < 0.3
    low, high = np.where(fixed, w, 0.0), np.where(fixed, w, np.inf)
    x = rng.standard_normal(n)
    (P,) = project_unit_norm_within(x[None], low, high)
    assert (low <= P).all()
    assert (high >= P).all()
    assert np.linalg.norm(P) == pytest.approx(1, abs=1e-14)
    # With entries that are fixed or not negative, the rest is a sphere in the orthant.
    rest = np.sqrt(1 - np.sum(w[fixed] ** 2))
    others = project_unit_norm(x[None, ~fixed], nonneg=True)[0] if not fixed.all() else 0.0
    np.testing.assert_allclose(P[~fixed], rest * others, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_point_of_the_sphere_in_a_box_is_that_of_the_ball_where_it_can_be(seed):
    rng = np.random.default_rng(seed)
    low, high = -rng.uniform(0, 0.5, 6), rng.uniform(0.2, 0.9, 6)
    x = rng.standard_normal(6)
    w = cp.Variable(6)
    best = cp.Problem(cp.Maximize(x @ w), [cp.norm(w) <= 1, low <= w, w <= high])
    best.solve(cp.CLARABEL)
    (P,) = project_unit_norm_within(x[None], low, high)
    assert np.linalg.norm(P) == pytest.approx(1, abs=1e-9)
    if np.linalg.norm(w.value) > 1 - 1e-6:
        assert x @ P == pytest.approx(best.value, abs=1e-6)
