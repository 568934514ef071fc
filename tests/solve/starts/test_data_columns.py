"""Starts made of columns: theorems of successive projections, planted simplices, groups of samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as Reference

import conicnmf as cn
from conicnmf.solve.starts.offsets import Centered, column_squares
from conicnmf.solve.starts.spa import vertices
from conicnmf.solve.starts.views import stack_of

RULES = [cn.DataColumns(), cn.DataColumns(average=1), cn.SPA(), cn.VCA(), cn.KMeans()]


def begun(start, V, rank, seed=0, **terms):
    found = start.factors(cn.factorize(V, rank, **terms), np.random.default_rng(seed))
    return found["W"], found["H"]


def separable(seed, m=12, rank=4, n=30):
    """Return W and samples in its convex hull, with a pure sample for each column, shuffled."""
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank))
    shares = np.hstack([np.eye(rank), rng.dirichlet(np.ones(rank), n - rank).T])
    order = rng.permutation(n)
    pure = np.argsort(order)[:rank]
    return W, W @ shares[:, order], shares[:, order], pure


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), rank=st.integers(2, 6))
def test_successive_projections_find_the_vertices_of_separable_data(seed, rank):
    W, V, shares, pure = separable(seed, rank=rank)
    assert set(vertices(V, rank)) == set(pure)
    found, H = begun(cn.SPA("zero"), V, rank)
    order = np.linalg.norm(found[:, :, None] - W[:, None], axis=0).argmin(axis=0)
    np.testing.assert_allclose(found[:, order], W, atol=1e-12)
    np.testing.assert_allclose(H[order], shares, atol=1e-7)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999))
def test_the_places_are_those_of_projecting_the_matrix_itself(seed):
    V = np.random.default_rng(seed).standard_normal((9, 14))
    rest, expected = V.copy(), []
    for _ in range(5):
        expected.append(int(np.linalg.norm(rest, axis=0).argmax()))
        u = rest[:, [expected[-1]]] / np.linalg.norm(rest[:, expected[-1]])
        rest = rest - u @ (u.T @ rest)
    assert list(vertices(V, 5)) == expected


def angles(found, W):
    """Return for each column of W the smallest angle to a column that was found."""
    cosines = (found / np.linalg.norm(found, axis=0)).T @ (W / np.linalg.norm(W, axis=0))
    return np.arccos(np.clip(cosines.max(axis=0), -1, 1))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 9999))
def test_vertices_are_found_in_noise_and_under_any_light(seed):
    rng = np.random.default_rng(seed)
    W, V, _, _ = separable(seed, m=60, rank=4, n=400)
    light = rng.uniform(0.5, 2.0, V.shape[1])
    bright = V * light + 1e-3 * rng.standard_normal(V.shape)  # the rule of strong signals
    dim = V + 0.05 * rng.standard_normal(V.shape)  # the rule of strong noise
    assert angles(begun(cn.VCA(), bright, 4, seed)[0], W).max() < 0.02
    found = angles(begun(cn.VCA(), dim, 4, seed)[0], W)
    plain = angles(begun(cn.DataColumns(average=1), dim, 4, seed)[0], W)
    assert np.median(found) < np.median(plain)


def test_noise_in_the_corners_is_less_than_in_the_samples():
    rng = np.random.default_rng(0)
    W, V, _, pure = separable(0, m=200, rank=3, n=500)
    noisy = V + 0.02 * rng.standard_normal(V.shape)
    found = begun(cn.VCA(), noisy, 3)[0]
    nearest = np.linalg.norm(found[:, :, None] - W[:, None], axis=0).min(axis=0)
    assert nearest.max() < 0.5 * np.linalg.norm(noisy[:, pure] - V[:, pure], axis=0).min()


def inertia(V, means):
    return np.sum(np.min(np.sum((V[:, :, None] - means[:, None]) ** 2, axis=0), axis=1))


def test_groups_are_as_tight_as_those_of_scikit_learn():
    V = cn.datasets.load("digits", n_samples=400).V
    ours = [inertia(V, begun(cn.KMeans("zero"), V, 10, seed)[0]) for seed in range(6)]
    theirs = [Reference(10, n_init=1, random_state=s).fit(V.T).inertia_ for s in range(6)]
    assert np.mean(ours) < 1.02 * np.mean(theirs)
    assert min(ours) < 1.01 * min(theirs)


def test_separated_groups_are_found_exactly():
    rng = np.random.default_rng(3)
    centers = 10 * np.eye(5, 3)
    V = np.repeat(centers, 20, axis=1) + 0.1 * rng.random((5, 60))
    expected = Reference(3, n_init=5, random_state=0).fit(V.T)
    found = begun(cn.KMeans("zero"), V, 3)[0]
    assert inertia(V, found) == pytest.approx(expected.inertia_)


def test_a_component_is_the_mean_of_random_columns():
    V = np.random.default_rng(0).random((7, 20))
    single = begun(cn.DataColumns("zero", average=1), V, 4)[0]
    assert all((w[:, None] == V).all(axis=0).any() for w in single.T)
    whole = begun(cn.DataColumns("zero", average=20), V, 1)[0]
    np.testing.assert_allclose(whole[:, 0], V.mean(axis=1))


DEGENERATE = {
    "one sample": np.arange(1.0, 5.0)[:, None],
    "one feature": np.arange(1.0, 6.0)[None],
    "zero columns": np.hstack([np.zeros((4, 3)), np.ones((4, 1)), np.eye(4, 2)]),
    "all equal": np.ones((4, 6)),
    "duplicates": np.repeat(np.eye(4, 2), 3, axis=1),
    "zero": np.zeros((4, 5)),
}


@pytest.mark.parametrize("V", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("start", RULES, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("rank", [1, 3, 8])
def test_poor_data_have_a_start_from_which_solves_go_on(V, start, form, rank):
    W, H = begun(start, form(V), rank)
    assert np.isfinite(W).all()
    assert np.isfinite(H).all()
    if V.any():
        assert W.any(axis=0).all()  # zero columns are no components where there are others
        result = cn.factorize(form(V), rank).solve("HALS", init=start, stop=30)
        best = cn.factorize(V, rank).solve("HALS", init="nndsvd", stop=30)
        assert result.relative_error <= best.relative_error + 0.02


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_no_sample_is_drawn_twice_for_what_rounding_leaves(form, seed):
    V = np.random.default_rng(seed).random((6, 3)).astype(np.float32)
    W, _ = begun(cn.KMeans("zero"), form(V), 10, seed)
    for sample in V.T:
        assert np.isclose(W, sample[:, None] * (W[0] / sample[0]), rtol=1e-4).all(axis=0).any()


@pytest.mark.parametrize("start", RULES, ids=repr)
def test_sparse_data_are_never_densified(start, monkeypatch):
    V = sp.random_array((2000, 300), density=0.01, rng=np.random.default_rng(0)).tocsr()
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("densified"))
    monkeypatch.setattr(sp.csc_array, "toarray", lambda *_: pytest.fail("densified"))
    for terms in ({}, {"offset": "feature"}):
        assert cn.factorize(V, 3, **terms).solve("HALS", init=start, stop=2).relative_error < 1


@pytest.mark.parametrize("start", RULES, ids=repr)
def test_signed_data_and_factors_start_too(start):
    V = np.random.default_rng(0).standard_normal((8, 12))
    signed = cn.factorize(V, 3, W=[], H=[])
    found = signed.start(start, np.random.default_rng(0))
    assert found["W"].min() < 0 > found["H"].min()
    assert signed.objective(found) < np.sum(V**2)
    half = cn.factorize(V, 3).start(start, np.random.default_rng(0))
    assert min(X.min() for X in half.values()) >= 0


@pytest.mark.parametrize("start", [*RULES, cn.NNDSVD(), cn.Random()], ids=repr)
@pytest.mark.parametrize("loss", [cn.WeightedFrobenius, lambda M: cn.Huber(0.1, weights=M)])
def test_what_is_stored_under_a_weight_of_zero_does_not_matter(start, loss):
    rng = np.random.default_rng(0)
    V, seen = rng.random((9, 15)), rng.random((9, 15)) < 0.7
    M = loss(seen)
    found = [begun(start, sp.csr_array(np.where(seen, V, x)), 3, loss=M) for x in (1e6, 7.0)]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    for one, two in zip(
        begun(start, np.where(seen, V, 0), 3, loss=M),
        begun(start, np.where(seen, V, 1e6), 3, loss=M),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)


def test_norms_of_columns_come_from_products():
    rng = np.random.default_rng(0)
    V, b, c = rng.random((6, 5)), rng.random((6, 1)), rng.random((1, 5))
    expected = np.sum((V - b - c) ** 2, axis=0)
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_allclose(column_squares(Centered(form(V), b, c)), expected)
    views = cn.factorize({"a": V, "b": 2 * V[:3]}, 2)
    stack = stack_of(views, [(fit, fit.V) for fit in views.fits]).operator
    np.testing.assert_allclose(column_squares(stack), np.sum((stack @ np.eye(5)) ** 2, axis=0))


@pytest.mark.parametrize("start", RULES, ids=repr)
def test_multiplicative_steps_are_not_held_by_zeros(start):
    V = np.random.default_rng(0).random((12, 20))
    result = cn.factorize(V, 4).solve("Multiplicative", init=start, stop=300)
    other = cn.factorize(V, 4).solve("Multiplicative", stop=300)
    assert result.relative_error < 1.1 * other.relative_error


def test_data_that_are_all_offset_leave_no_columns_to_begin_with():
    """Squares of the columns without their offset are rounding then, the columns themselves zero."""
    V = np.full((7, 9), 1 / 3)
    begun = cn.factorize(V, 3, offset="both").solve(init=cn.SPA(), stop=0)
    assert all(np.isfinite(X).all() for X in begun.factors.values())
