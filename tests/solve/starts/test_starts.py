"""Starting factors: what they are before and after the constraints are looked at."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import conicnmf as cn
from conicnmf.solve.starts import as_start, feasible_start
from conicnmf.solve.starts.singular import leading_singular

PLUS = cn.NonNegative()


def low_rank(seed=0, m=20, n=15, rank=4):
    rng = np.random.default_rng(seed)
    W, H = rng.random((m, rank)) ** 3, rng.random((rank, n)) ** 3
    return W @ H


def factors(start, V, rank, seed=0, **terms):
    drawn = start.factors(cn.factorize(V, rank, **terms), np.random.default_rng(seed))
    return drawn["W"], drawn["H"]


RULES = [cn.DataColumns(), cn.SPA("zero"), cn.VCA(), cn.KMeans("mean")]
STARTS = [cn.Random(), *(cn.NNDSVD(fill) for fill in ("zero", "mean", "random")), *RULES]


@pytest.mark.parametrize("start", STARTS, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda V: V.astype(np.float32)])
@pytest.mark.parametrize("rank", [1, 4, 15, 17, 30])
def test_a_start_is_deterministic_non_negative_and_of_the_right_shape_and_type(start, form, rank):
    V = form(low_rank())
    (W, H), (again, _) = factors(start, V, rank), factors(start, V, rank)
    assert W.shape == (20, rank)
    assert H.shape == (rank, 15)
    assert W.dtype == H.dtype == V.dtype
    assert min(W.min(), H.min()) >= 0
    assert np.isfinite(W).all()
    np.testing.assert_array_equal(W, again)


def test_seeds_give_different_random_starts():
    V = low_rank()
    assert (factors(cn.Random(), V, 3, seed=0)[0] != factors(cn.Random(), V, 3, seed=1)[0]).all()


def test_a_random_start_has_the_best_common_scale():
    V = low_rank()
    for scale in (1e-8, 1.0, 1e8):
        W, H = factors(cn.Random(), scale * V, 3)
        product = W @ H
        best = np.vdot(scale * V, product) / np.vdot(product, product)
        assert best == pytest.approx(1.0)


def test_a_random_start_of_a_free_factor_has_both_signs():
    W, H = factors(cn.Random(), low_rank(), 3, H=[])
    assert W.min() >= 0 > H.min()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999))
def test_singular_vectors_start_nearer_than_chance(seed):
    V = low_rank(seed)
    chance = np.mean([error(V, *factors(cn.Random(), V, 4, seed=s)) for s in range(5)])
    for fill in ("zero", "random"):
        assert error(V, *factors(cn.NNDSVD(fill), V, 4)) < chance


def error(V, W, H):
    return np.linalg.norm(V - W @ H)


def test_the_first_component_is_the_leading_pair_of_singular_vectors():
    V = low_rank()
    W, H = factors(cn.NNDSVD("zero"), V, 1)
    U, s, Vt = np.linalg.svd(V)
    np.testing.assert_allclose(W @ H, s[0] * np.outer(U[:, 0], Vt[0]), atol=1e-9)


def test_zeros_are_filled_as_asked():
    V = low_rank()
    zero = factors(cn.NNDSVD("zero"), V, 4)
    assert min(X.min() for X in zero) == 0
    for plain, filled in zip(zero, factors(cn.NNDSVD("mean"), V, 4), strict=True):
        np.testing.assert_allclose(filled[plain == 0], V.mean())
        np.testing.assert_array_equal(filled[plain > 0], plain[plain > 0])
    assert min(X.min() for X in factors(cn.NNDSVD("random"), V, 4)) >= 0


def test_sparse_and_dense_data_start_alike():
    V = low_rank()
    for start in STARTS:
        dense, sparse = factors(start, V, 4), factors(start, sp.csr_array(V), 4)
        for here, there in zip(dense, sparse, strict=True):
            np.testing.assert_allclose(here, there, atol=1e-9)


@pytest.mark.parametrize("start", STARTS, ids=repr)
@pytest.mark.parametrize("V", [np.ones((1, 1)), np.ones((6, 5)), np.eye(4, 3)], ids=["1", "e", "I"])
def test_data_of_low_rank_are_no_trouble(start, V):
    for X in factors(start, V, 3):
        assert np.isfinite(X).all()


def test_zero_data_are_no_trouble():
    for X in factors(cn.Random(), np.zeros((4, 3)), 2):
        assert np.isfinite(X).all()


def test_negative_data_have_no_singular_start():
    with pytest.raises(cn.InputError, match=r"V >= 0.*Random"):
        factors(cn.NNDSVD(), -low_rank(), 2)
    with pytest.raises(cn.InputError, match="'rows'"):
        cn.NNDSVD("rows")


def test_given_factors_are_used_and_left_alone():
    V = low_rank()
    rng = np.random.default_rng(0)
    W0, H0 = rng.random((20, 2)), rng.random((2, 15))
    before = W0.copy()
    result = cn.factorize(V, 2).solve(cn.HALS(), init=(W0, H0), stop=0)
    np.testing.assert_array_equal(result.W, W0)
    cn.factorize(V, 2).solve(cn.HALS(), init=cn.Given(W0, H0), stop=3)
    np.testing.assert_array_equal(W0, before)


def test_a_missing_factor_is_drawn():
    V, H0 = low_rank(), np.ones((2, 15))
    W, H = factors(cn.Given(H=H0), V, 2)
    np.testing.assert_array_equal(H, H0)
    assert W.shape == (20, 2)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ((np.ones((15, 2)), None), ["start W", "(20, 2)", "(15, 2)"]),
        ((None, np.full((2, 15), np.nan)), ["start H", "finite"]),
        ((None, [["a"] * 15] * 2), ["start H", "real numbers"]),
        ("nndsvt", ["did you mean NNDSVD", "'nndsvt'"]),
        ((1, 2, 3), ["pair"]),
    ],
)
def test_bad_starts_are_refused(init, words):
    with pytest.raises(cn.InputError) as caught:
        cn.factorize(low_rank(), 2).solve(cn.HALS(), init=init)
    for word in words:
        assert word in str(caught.value)


def test_nothing_given_means_random():
    assert as_start(None) == cn.Random()
    assert as_start(cn.NNDSVD()) == cn.NNDSVD()


KNOWN = np.eye(3, 15, dtype=bool)
COMBINATIONS = {
    "free": [],
    "boxed": [cn.Box(0.2, 0.5)],
    "known": [PLUS, cn.Fixed(KNOWN, 0.7)],
    "band": [PLUS, cn.Sparseness(0.4, 0.6)],
    "prescribed": [PLUS, cn.Sparseness(0.5, 0.5)],
    "samples": [PLUS, cn.Sparseness(min=0.4, each="sample")],
    "unit": [PLUS, cn.UnitNorm()],
    "unit band": [PLUS, cn.Sparseness(min=0.5), cn.UnitNorm()],
    "mixtures": [cn.Simplex(each="sample")],
    "sparse mixtures": [cn.Simplex(), cn.Sparseness(min=0.5)],
    "both directions": [PLUS, cn.Sparseness(min=0.4), cn.Sparseness(min=0.2, each="sample")],
    "sparse and boxed": [cn.Box(0, 0.4), cn.Sparseness(min=0.5)],
    "sparse and known": [PLUS, cn.Fixed(KNOWN, 0.7), cn.Sparseness(min=0.3)],
    "smooth": [PLUS, cn.Convex(lambda H: cp.abs(cp.diff(H, axis=1)) <= 0.1)],
    "smooth and sparse": [
        PLUS,
        cn.Convex(lambda H: cp.abs(cp.diff(H, axis=1)) <= 0.5),
        cn.Sparseness(min=0.3),
    ],
    "short": [PLUS, cn.NormBall(0.1), cn.Sparseness(max=0.3)],
}


@pytest.mark.parametrize("name", COMBINATIONS)
@pytest.mark.parametrize("start", [cn.Random(), cn.NNDSVD("zero"), cn.SPA(), cn.VCA()], ids=repr)
def test_any_start_is_brought_into_the_constraints(name, start):
    blocks = cn.factorize(low_rank(), 3, H=COMBINATIONS[name])
    rng = np.random.default_rng(0)
    found = feasible_start(blocks, start.factors(blocks, rng), rng)
    assert max(blocks.violations(found).values(), default=0.0) <= 1e-6
    assert not blocks.collapsed(found)


@pytest.mark.parametrize("name", ["band", "unit", "samples", "mixtures", "smooth"])
def test_single_precision_is_kept_on_the_way(name):
    V = low_rank().astype(np.float32)
    blocks = cn.factorize(V, 3, H=COMBINATIONS[name])
    rng = np.random.default_rng(0)
    found = feasible_start(blocks, cn.Random().factors(blocks, rng), rng)
    assert found["H"].dtype == np.float32


def test_dead_components_are_filled_before_sparseness_is_asked_for():
    V = low_rank()
    start = (np.ones((20, 3)), np.vstack([np.zeros((1, 15)), np.ones((2, 15))]))
    problem = cn.factorize(V, 3, H=COMBINATIONS["band"])
    result = problem.solve(cn.ProjectedGradient(), init=start, stop=0)
    assert result.max_violation <= 1e-9
    assert result.H.any(axis=1).all()


def large(H):
    return H >= 1


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ([cn.Simplex(each="sample"), cn.Convex(large)], ["Simplex", "Convex(large)"]),
        ([PLUS, cn.NormBall(0.5), cn.Convex(large)], ["NormBall", "Convex(large)"]),
    ],
)
def test_contradicting_constraints_are_named(terms, names):
    with pytest.raises(cn.InfeasibleError) as caught:
        cn.factorize(low_rank(), 3, H=terms).solve(cn.TangentPlane())
    for name in ["on H", *names]:
        assert name in str(caught.value)


def test_zero_data_have_a_singular_start():
    cn.factorize(np.zeros((4, 3)), 2).solve(cn.HALS(), init=cn.NNDSVD(), throw=False)


def test_zero_samples_are_filled_before_their_sparseness_is_asked_for():
    V = np.random.default_rng(0).random((8, 6))
    V[:, 2] = 0
    problem = cn.factorize(V, 3, H=[cn.NonNegative(), cn.Sparseness(min=0.3, each="sample")])
    result = problem.solve(cn.ProjectedGradient(), init=cn.NNDSVD("zero"), stop=5)
    assert result.max_violation <= 1e-6


def test_flat_spectra_are_explained_with_few_products():
    """Values between 1 and 0.9 have no leading vectors to speak of, and none are waited for."""
    values = np.linspace(1.0, 0.9, 1600)
    count = []

    def product(X):
        count.append(X.shape[1])
        return values[:, None] * X

    flat = LinearOperator(
        (1600, 1600), matvec=lambda x: values * x, matmat=product, rmatmat=product, dtype=float
    )
    U, s, _ = leading_singular(flat, 20, np.random.default_rng(0))
    assert s @ s >= 0.95 * values[:20] @ values[:20]
    np.testing.assert_allclose(U.T @ U, np.eye(20), atol=1e-9)
    assert sum(count) < 2 * 400 * 2  # two restarts of six blocks, there and back
