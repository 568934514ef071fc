"""Proximal steps and projections along a row, each against a theorem or a slow exact route."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.geometry import (
    project_isotonic,
    project_unimodal,
    prox_differences,
    prox_quadratic,
    prox_total_variation,
    shrink_groups,
    shrink_singular_values,
)
from tests.geometry.hostile import SCALES, rows

WEIGHTS = st.sampled_from([0.0, 1e-3, 0.1, 0.7, 3.0, 50.0, 1e4])


def nonneg_by_every_support(M, a):
    """The least ½xᵀMx − aᵀx over x ≥ 0: the best of the stationary points of all supports."""
    best, found = np.inf, np.zeros(a.size)
    for support in product([False, True], repeat=a.size):
        s = np.array(support)
        x = np.zeros(a.size)
        if s.any():
            x[s] = np.linalg.solve(M[np.ix_(s, s)], a[s])
        cost = 0.5 * x @ M @ x - a @ x
        if (x >= 0).all() and cost < best:
            best, found = cost, x
    return found


def rising(a):
    """The nearest rising row by the formula max over j ≤ i of min over k ≥ i of the mean of a[j:k]."""
    n = a.size
    means = [[a[j : k + 1].mean() if k >= j else np.inf for k in range(n)] for j in range(n)]
    return np.array([max(min(means[j][i:]) for j in range(i + 1)) for i in range(n)])


@given(a=rows(max_size=12), weight=WEIGHTS, scale=SCALES)
@settings(deadline=None, max_examples=200)
def test_total_variation_has_a_certificate(a, weight, scale):
    # x is the minimizer exactly when some z with |z| ≤ weight, z = weight·sign at every jump, has
    # x = a + differences of z; z is the running sum of x − a.
    x = prox_total_variation(scale * a[None], scale * weight)[0] / scale
    z = np.cumsum(x - a)
    jumps = np.diff(x)
    assert abs(z[-1]) < 1e-12 * a.size
    assert (np.abs(z[:-1]) <= weight + 1e-12 * a.size).all()
    large = np.abs(jumps) > 1e-9
    np.testing.assert_allclose(z[:-1][large], weight * np.sign(jumps[large]), atol=1e-10)


def test_an_endless_weight_makes_a_row_flat():
    a = np.array([[3.0, -1.0, 4.0]])
    np.testing.assert_allclose(prox_total_variation(a, np.inf), 2.0)


@given(a=rows(max_size=7), weight=WEIGHTS)
@settings(deadline=None, max_examples=50)
def test_total_variation_with_nonnegative_entries_is_the_clipped_one(a, weight):
    x = prox_total_variation(a[None], weight, nonneg=True)[0]

    def cost(y):
        return 0.5 * np.sum((y - a) ** 2) + weight * np.abs(np.diff(y)).sum()

    # A convex function has its minimum at x if no direction falls: all signs on all intervals do
    # for this one, as it is separable but for neighbors.
    for i, j in product(range(a.size), repeat=2):
        for step in (1e-4, -1e-4):
            y = x.copy()
            y[i : j + 1] = np.maximum(y[i : j + 1] + step, 0.0)
            assert cost(y) >= cost(x) - 1e-12


@given(a=rows(max_size=6), weight=WEIGHTS, order=st.integers(1, 3), nonneg=st.booleans())
@settings(deadline=None, max_examples=100)
def test_squared_differences_solve_their_system(a, weight, order, nonneg):
    D = np.diff(np.eye(a.size), order, axis=0)
    M = np.eye(a.size) + 2 * weight * D.T @ D
    wanted = nonneg_by_every_support(M, a) if nonneg else np.linalg.solve(M, a)
    found = prox_differences(a[None], weight, order, nonneg)[0]
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_long_rows_of_squared_differences_are_stationary(order):
    a = np.random.default_rng(order).standard_normal((3, 400)).cumsum(axis=1)
    x = prox_differences(a, 30.0, order, nonneg=True)
    D = np.diff(np.eye(400), order, axis=0)
    slope = x - a + 60.0 * x @ D.T @ D
    assert (x >= 0).all()
    assert slope.min() > -1e-8
    assert np.abs(slope * x).max() < 1e-8 * np.abs(a).max()


@given(seed=st.integers(0, 10**6), a=rows(max_size=6), weight=WEIGHTS, nonneg=st.booleans())
@settings(deadline=None, max_examples=100)
def test_a_sparse_quadratic_solves_its_system(seed, a, weight, nonneg):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((a.size, a.size)) * (rng.random((a.size, a.size)) < 0.4)
    L = root @ root.T
    M = np.eye(a.size) + weight * L
    wanted = nonneg_by_every_support(M, a) if nonneg else np.linalg.solve(M, a)
    found = prox_quadratic(a[None], weight, sp.csr_array(L), nonneg)[0]
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    # Entries far from the diagonal are for conjugate gradients, also where they are zero.
    apart = sp.coo_array(sp.block_diag([L, np.zeros((40, 40))]))
    ends = np.array([0, a.size + 39])
    places = np.append(apart.row, ends), np.append(apart.col, ends[::-1])
    far = sp.csr_array((np.append(apart.data, [0.0, 0.0]), places), shape=apart.shape)
    found = prox_quadratic(np.pad(a, (0, 40))[None], weight, far, nonneg)[0]
    np.testing.assert_allclose(found, np.pad(wanted, (0, 40)), atol=1e-8)


@pytest.mark.parametrize("nonneg", [False, True])
@pytest.mark.parametrize("reach", [0, 1, 7, 32])
def test_the_order_of_nodes_changes_nothing(reach, nonneg):
    rng = np.random.default_rng(reach)
    edges = sp.diags_array([np.ones(150 - reach)], offsets=[reach], shape=(150, 150))
    A = sp.csr_array(edges + edges.T + sp.eye_array(150))
    L = sp.csr_array(sp.diags_array(A.sum(axis=0)) - A)
    order, X = rng.permutation(150), rng.standard_normal((4, 150))
    near = prox_quadratic(X, [0.1, 1, 10, 1000], L, nonneg)
    far = prox_quadratic(X[:, order], [0.1, 1, 10, 1000], L[order][:, order], nonneg)
    np.testing.assert_allclose(near[:, order], far, atol=1e-9)


@given(a=rows(), scale=SCALES, increasing=st.booleans(), nonneg=st.booleans())
@settings(deadline=None, max_examples=200)
def test_the_nearest_rising_row_is_that_of_the_formula(a, scale, increasing, nonneg):
    wanted = rising(a) if increasing else rising(a[::-1])[::-1]
    found = project_isotonic(scale * a[None], increasing, nonneg)[0] / scale
    np.testing.assert_allclose(found, np.maximum(wanted, 0) if nonneg else wanted, atol=1e-12)


@given(a=rows(max_size=8), nonneg=st.booleans())
@settings(deadline=None, max_examples=200)
def test_no_other_peak_is_nearer(a, nonneg):
    def cost(x):
        return float(np.sum((x - a) ** 2))

    def hill(k):  # rising up to k, falling from k on: as two rows that share nothing
        parts = [rising(a[:k]), rising(a[k:][::-1])[::-1]]
        x = np.concatenate(parts)
        return np.maximum(x, 0) if nonneg else x

    found = project_unimodal(a[None], nonneg)[0]
    peak = int(found.argmax())
    assert (np.diff(found[: peak + 1]) >= -1e-15).all()
    assert (np.diff(found[peak:]) <= 1e-15).all()
    assert not nonneg or (found >= 0).all()
    assert cost(found) <= min(cost(hill(k)) for k in range(a.size + 1)) + 1e-12


def test_clipping_the_nearest_signed_hill_is_not_the_nearest_hill():
    rng = np.random.default_rng(0)
    worse = 0
    for _ in range(200):
        a = rng.standard_normal((1, 9)) - 0.5
        own = np.sum((project_unimodal(a, nonneg=True) - a) ** 2)
        clipped = np.sum((np.maximum(project_unimodal(a), 0) - a) ** 2)
        assert own <= clipped + 1e-12
        worse += clipped > own * (1 + 1e-6)
    assert worse > 0


@given(a=rows(max_size=9), weight=WEIGHTS, scale=SCALES)
@settings(deadline=None, max_examples=100)
def test_groups_shrink_by_the_weight(a, weight, scale):
    labels = np.arange(a.size) % 3
    x = shrink_groups(scale * a[None], scale * weight, labels)[0] / scale
    for g in range(3):
        own, before = x[labels == g], a[labels == g]
        # before − own is in weight times the subdifferential of the norm at own
        if own.any():
            np.testing.assert_allclose(
                before - own, weight * own / np.linalg.norm(own), atol=1e-9 * max(1, weight)
            )
        else:
            assert np.linalg.norm(before) <= weight * (1 + 1e-12)


def test_singular_values_shrink_by_the_weight():
    A = np.random.default_rng(0).standard_normal((4, 7))
    X = shrink_singular_values(A, 1.5)
    rest = A - X
    assert np.linalg.norm(rest, 2) <= 1.5 + 1e-12
    assert np.vdot(rest, X) == pytest.approx(1.5 * np.linalg.norm(X, "nuc"))


@pytest.mark.parametrize(
    "apply",
    [
        lambda X: prox_total_variation(X, 0.3),
        lambda X: prox_differences(X, 0.3, 2, nonneg=True),
        lambda X: prox_quadratic(X, 0.3, sp.eye_array(X.shape[1]), nonneg=True),
        project_isotonic,
        lambda X: project_isotonic(X, increasing=False),
        project_unimodal,
        lambda X: shrink_groups(X, 0.3),
        lambda X: shrink_singular_values(X, 0.3),
    ],
)
def test_single_precision_stays_and_inputs_are_left_alone(apply):
    X = np.random.default_rng(1).standard_normal((3, 8))
    single = X.astype(np.float32)
    before = single.copy()
    assert apply(single).dtype == np.float32
    np.testing.assert_array_equal(single, before)
    np.testing.assert_allclose(apply(single), apply(X), atol=1e-5)
    assert apply(np.empty((0, 8))).shape == (0, 8)


def test_one_entry_needs_no_second_direction():
    L = sp.csr_array([[6.671]])
    for seed in range(200):
        a = np.random.default_rng(seed).standard_normal((1, 1))
        found = prox_quadratic(a, 1e4, L)
        np.testing.assert_allclose(found, a / (1 + 1e4 * 6.671), rtol=1e-7)
