from __future__ import annotations

import numpy as np
import pytest
from hostile import LEVELS, SCALES, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.geometry import hoyer, project_hoyer


def alternating(x, l1, l2):
    """The classical route: hyperplane, sphere, clip, and again on what is left."""
    active = np.ones(x.size, dtype=bool)
    s = x + (l1 - x.sum()) / x.size
    for _ in range(x.size):
        middle = np.where(active, l1 / active.sum(), 0.0)
        w = s - middle
        if np.linalg.norm(w) <= 1e-12:  # no direction to leave the middle
            return None
        s = middle + np.sqrt(max(l2**2 - middle @ middle, 0.0) / (w @ w)) * w
        if (s >= 0).all():
            return s
        active &= s > 0
        s = np.where(active, s, 0.0)
        s = np.where(active, s + (l1 - s.sum()) / active.sum(), 0.0)
    return None


def norms_for(n, s, l2):
    return l2 * (np.sqrt(n) - (np.sqrt(n) - 1) * s), l2


@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.parametrize("s", [0.05, 0.3, 0.7, 0.97])
def test_agrees_with_the_alternating_algorithm(n, s):
    X = np.random.default_rng(n).normal(size=(40, n))
    l1, l2 = norms_for(n, s, 2.5)
    P = project_hoyer(X, l1, l2)
    for x, p in zip(X, P, strict=True):
        np.testing.assert_allclose(p, alternating(x, l1, l2), atol=1e-10)


@settings(max_examples=200, deadline=None)
@given(rows(2), LEVELS, st.sampled_from([1.0, 3.5, 1e-200, 1e200]), SCALES)
def test_norms_are_met_and_no_other_route_is_nearer(a, s, l2, scale):
    l1, _ = norms_for(a.size, s, 1.0)
    p = project_hoyer(scale * a[None], l1 * l2, l2)[0] / l2
    assert (p >= 0).all()
    np.testing.assert_allclose([p.sum(), np.linalg.norm(p)], [l1, 1.0], rtol=1e-13)
    other = alternating(a, l1, 1.0)
    if other is not None and np.allclose(
        [other.sum(), np.linalg.norm(other)], [l1, 1.0], rtol=1e-9
    ):
        assert np.linalg.norm(a - p) <= np.linalg.norm(a - other) + 1e-7


@settings(max_examples=100, deadline=None)
@given(rows(2), LEVELS)
def test_signed_form_projects_magnitudes_and_restores_signs(a, s):
    l1, l2 = norms_for(a.size, s, 2.0)
    p = project_hoyer(a[None], l1, l2, signed=True)[0]
    np.testing.assert_array_equal(np.abs(p), project_hoyer(np.abs(a[None]), l1, l2)[0])
    assert (p * a >= 0).all()
    assert (p[a == 0] >= 0).all()


def test_each_row_may_have_its_own_norms():
    X = np.random.default_rng(0).normal(size=(3, 6))
    l1, l2 = np.array([2.0, 3.0, 0.0]), np.array([1.0, 2.0, 0.0])
    P = project_hoyer(X, l1, l2)
    np.testing.assert_allclose(P.sum(axis=1), l1, rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(P, axis=1), l2, rtol=1e-14)
    np.testing.assert_array_equal(P[0], project_hoyer(X[:1], 2.0, 1.0)[0])


def test_one_entry_takes_the_norm():
    np.testing.assert_array_equal(project_hoyer([[-3.0], [2.0]], 4.0, 4.0), [[4.0], [4.0]])
    np.testing.assert_array_equal(
        project_hoyer([[-3.0], [2.0]], 4.0, 4.0, signed=True), [[-4.0], [4.0]]
    )


def test_float32_is_kept():
    X = np.random.default_rng(0).normal(size=(4, 30)).astype(np.float32)
    P = project_hoyer(X, 3.0, 1.0)
    assert P.dtype == np.float32
    np.testing.assert_allclose(P, project_hoyer(X.astype(np.float64), 3.0, 1.0), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 64, 513, 1600])
def test_the_measure_is_the_same_to_the_last_bit_compiled_and_in_numpy(n, dtype):
    rng = np.random.default_rng(n)
    X = (rng.normal(size=(9, n)) * 10.0 ** np.arange(-16, 20, 4)[:, None]).astype(dtype)
    X[3] = 0
    X[5, 0] = np.inf
    X[6, 0] = np.nan
    compiled, by_arrays = np.empty(9, dtype), np.empty(9, dtype)
    hoyer._sparseness_rows(X, compiled)
    with np.errstate(invalid="ignore"):
        hoyer._sparseness_array(X, by_arrays)
    np.testing.assert_array_equal(compiled, by_arrays)
