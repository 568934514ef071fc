"""Cones and planes against a cone solver: feasible, and as near as the solver's own point."""

from __future__ import annotations

import contextlib
import warnings

import cvxpy as cp
import numpy as np
import pytest
from hostile import LEVELS, pairs, rows
from hypothesis import assume, given, settings

from conicnmf.geometry import (
    hoyer_sparseness,
    project_band,
    project_cone,
    project_halfspace_cone,
    project_orthant_cone,
)
from conicnmf.kernels.intersections import project_orthant_plane, project_orthant_plane_cone

FLAT = 1e-4
"""Cones of less sparseness are hardly more than the diagonal, where Clarabel errs unawares."""


def solver_point(x, t, s, nonneg):
    """Project x through Clarabel (None where it gives up); absent constraints are None."""
    w = cp.Variable(x.size, nonneg=nonneg)
    n = x.size
    constraints = []
    if s is not None:
        constraints.append((np.sqrt(n) - (np.sqrt(n) - 1) * s) * cp.norm(w, 2) <= cp.sum(w))
    if t is not None:
        constraints.append(t @ w >= 0)
    problem = cp.Problem(cp.Minimize(cp.norm(w - x, 2)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(cp.SolverError):
            problem.solve(solver=cp.CLARABEL)
    return w.value if problem.status == cp.OPTIMAL else None


def is_nearest(p, x, t=None, s=None, nonneg=False):
    """Check p, and tell if the solver had a point to compare it with.

    Sets without interior are beyond an interior-point solver; they have tests of their own below.
    """
    size, norm, n = np.abs(x).max(), np.linalg.norm(p), x.size
    if nonneg:
        assert (p >= 0).all()
    if s is not None:
        assert p.sum() >= (np.sqrt(n) - (np.sqrt(n) - 1) * s) * norm - 1e-12 * size
    if t is not None:
        assert t @ p >= -1e-12 * np.linalg.norm(t) * size
    flat = s is not None and s < FLAT
    other = None if flat else solver_point(x, t, s, nonneg)
    if other is None:
        return False
    assert np.linalg.norm(p - x) <= np.linalg.norm(other - x) + 1e-6
    np.testing.assert_allclose(p, other, atol=5e-3)
    return True


hypothesis_settings = settings(max_examples=60, deadline=None)


@hypothesis_settings
@given(rows(max_size=7), LEVELS)
def test_cone(x, s):
    assume(is_nearest(project_cone(x[None], s)[0], x, s=s))


@hypothesis_settings
@given(pairs(), LEVELS)
def test_halfspace_and_cone(pair, s):
    x, t = pair
    assume(is_nearest(project_halfspace_cone(x[None], t[None], s)[0], x, t=t, s=s))


@hypothesis_settings
@given(rows(max_size=7), LEVELS)
def test_orthant_and_cone(x, s):
    assume(is_nearest(project_orthant_cone(x[None], s)[0], x, s=s, nonneg=True))


@hypothesis_settings
@given(pairs())
def test_orthant_and_plane(pair):
    x, t = pair
    assume(is_nearest(project_orthant_plane(x[None], t[None])[0], x, t=t, nonneg=True))


@hypothesis_settings
@given(pairs(), LEVELS)
def test_orthant_plane_and_cone(pair, s):
    x, t = pair
    p = project_orthant_plane_cone(x[None], t[None], s)[0]
    assume(is_nearest(p, x, t=t, s=s, nonneg=True))


def tangents(X, s):
    """The planes that touch C(s) at the band projections of the rows of X."""
    n = X.shape[1]
    _, U = project_band(X, s, 1.0)
    return U, U - 1 / (np.sqrt(n) - (np.sqrt(n) - 1) * s)


@pytest.mark.parametrize("s_max", [0.62, 0.7, 1.0])
def test_tangent_planes_of_real_size(s_max):
    rng = np.random.default_rng(0)
    X = rng.random((6, 120))
    _, T = tangents(X + 0.1 * rng.normal(size=X.shape), 0.6)
    P = project_orthant_plane_cone(X, T, s_max)
    sparseness = hoyer_sparseness(P)
    assert (sparseness >= 0.6 - 1e-12).all()
    assert (sparseness <= s_max + 1e-12).all()
    for x, t, p in zip(X, T, P, strict=True):
        assert is_nearest(p, x, t=t, s=s_max, nonneg=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("s", [0.3, 0.6, 0.9])
def test_a_plane_that_only_touches_leaves_its_ray(s, dtype):
    X = np.random.default_rng(1).random((5, 40)).astype(dtype)
    U, T = tangents(X, s)
    expected = (X * U).sum(axis=1, keepdims=True) * U
    tol = 1e-5 if dtype == np.float64 else 2e-2
    np.testing.assert_allclose(project_orthant_plane_cone(X, T, s), expected, atol=tol)
    np.testing.assert_allclose(project_halfspace_cone(X, T, s), expected, atol=tol)


def test_planes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="broadcast"):
        project_orthant_plane(np.ones((2, 4)), np.ones((2, 3)))


def test_no_common_direction_leaves_exactly_zero():
    X = np.random.default_rng(2).random((4, 6)) + 0.1
    T = -np.random.default_rng(3).random((4, 6)) - 0.1
    np.testing.assert_array_equal(project_orthant_plane(X, T), 0.0)
    np.testing.assert_array_equal(project_orthant_plane_cone(X, T, 0.5), 0.0)
    np.testing.assert_array_equal(project_halfspace_cone(X, -np.ones((4, 6)), 0.5), 0.0)


def test_a_normal_without_a_positive_entry_leaves_the_face_of_its_zeros():
    x, t = np.array([3.0, 1.0, 0.5, 2.0, 1.0]), np.array([0.0, 0.0, 0.0, -1.0, -2.0])
    p = project_orthant_plane_cone(x[None], t[None], 0.75)[0]
    np.testing.assert_array_equal(p[3:], 0.0)
    # c(5, 0.75) = c(3, s): the face has the same ratio of norms, but fewer entries.
    ratio = np.sqrt(5) - (np.sqrt(5) - 1) * 0.75
    s = (np.sqrt(3) - ratio) / (np.sqrt(3) - 1)
    np.testing.assert_allclose(p[:3], project_orthant_cone(x[None, :3], s)[0], atol=1e-12)
    np.testing.assert_array_equal(project_orthant_plane_cone(x[None], t[None], 0.3), 0.0)


def test_cones_of_sparseness_zero_are_the_diagonal():
    X = np.array([[2.0, 1.0, 0.0], [-2.0, -1.0, 0.0], [1.0, 1.0, 1.0]])
    expected = np.array([1.0, 0.0, 1.0])[:, None] * np.ones(3)
    np.testing.assert_allclose(project_cone(X, 0.0), expected, atol=1e-15)
    np.testing.assert_allclose(project_orthant_cone(X, 0.0), expected, atol=1e-15)
    T = np.array([[1.0, 1.0, -1.0]] * 3)
    np.testing.assert_allclose(project_orthant_plane_cone(X, T, 0.0), expected, atol=1e-15)
    np.testing.assert_array_equal(project_orthant_plane_cone(X, -T, 0.0), 0.0)


def test_a_plane_of_zeros_is_no_plane():
    X = np.random.default_rng(4).normal(size=(5, 6))
    Z = np.zeros_like(X)
    np.testing.assert_array_equal(project_orthant_plane(X, Z), np.maximum(X, 0))
    np.testing.assert_allclose(
        project_orthant_plane_cone(X, Z, 0.3), project_orthant_cone(X, 0.3), atol=1e-15
    )
    np.testing.assert_array_equal(project_halfspace_cone(X, Z, 0.3), project_cone(X, 0.3))


@pytest.mark.parametrize(
    "project",
    [
        lambda X, T: project_cone(X, 0.4),
        lambda X, T: project_halfspace_cone(X, T, 0.4),
        lambda X, T: project_orthant_cone(X, 0.4),
        project_orthant_plane,
        lambda X, T: project_orthant_plane_cone(X, T, 0.4),
    ],
    ids=["cone", "halfspace_cone", "orthant_cone", "orthant_plane", "orthant_plane_cone"],
)
class TestEveryCone:
    rng = np.random.default_rng(5)
    X, T = rng.normal(size=(30, 9)), rng.normal(size=(30, 9))

    def test_projected_points_stay(self, project):
        P = project(self.X, self.T)
        np.testing.assert_allclose(project(P, self.T), P, atol=1e-12)

    @pytest.mark.parametrize("size_x", [2.0**-664, 2.0**664])
    @pytest.mark.parametrize("size_t", [2.0**-664, 2.0**664])
    def test_sizes_do_not_matter(self, project, size_x, size_t):
        P = project(size_x * self.X, size_t * self.T) / size_x
        np.testing.assert_allclose(P, project(self.X, self.T), atol=1e-13)

    def test_float32_is_kept(self, project):
        P = project(self.X.astype(np.float32), self.T.astype(np.float32))
        assert P.dtype == np.float32
        np.testing.assert_allclose(P, project(self.X, self.T), atol=1e-5)

    def test_one_plane_serves_all_rows(self, project):
        repeated = np.repeat(self.T[:1], len(self.X), axis=0)
        np.testing.assert_array_equal(project(self.X, self.T[:1]), project(self.X, repeated))

    def test_inputs_are_unchanged(self, project):
        X, T = self.X.copy(), self.T.copy()
        project(X, T)
        np.testing.assert_array_equal(X, self.X)
        np.testing.assert_array_equal(T, self.T)
