"""Every form of a loss agrees with its value, for dense and sparse data and weights."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.extend import Loss
from conicnmf.model import losses
from conicnmf.model.addends import Coupling
from conicnmf.testing import check_loss

seeds = st.integers(0, 999)


def draw(seed, m, n, rank=3):
    rng = np.random.default_rng(seed)
    mask = rng.random((m, n)) < 0.6
    mask[0, 0] = True
    return rng.random((m, n)), mask, rng.random((m, rank)), rng.random((rank, n))


@settings(max_examples=12, deadline=None)
@given(seed=seeds, m=st.integers(3, 7), n=st.integers(1, 6), scale=st.sampled_from([1e-6, 1, 30.0]))
def test_squared_errors_agree_in_every_form(seed, m, n, scale):
    Y, mask, _, _ = draw(seed, m, n)
    check_loss(cn.Frobenius(scale), Y, seed=seed)
    check_loss(cn.WeightedFrobenius(mask, scale), Y, seed=seed)
    check_loss(cn.WeightedFrobenius(sp.csr_array(mask * Y), scale), Y, seed=seed)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_forms_agree_at_any_scale_of_the_data(scale):
    Y, mask, _, _ = draw(5, 6, 5)
    check_loss(cn.Frobenius(), scale * Y)
    check_loss(cn.WeightedFrobenius(mask), scale * Y)


def test_data_may_be_negative():
    Y = np.random.default_rng(0).standard_normal((5, 4))
    frobenius = type("NoRatio", (cn.Frobenius,), {"ratio": Loss.ratio})
    check_loss(frobenius(), Y)


def test_rows_without_weights_are_no_trouble():
    Y, mask, _, _ = draw(1, 5, 4)
    mask[2], mask[:, 1] = False, False
    check_loss(cn.WeightedFrobenius(mask), Y)


@pytest.mark.parametrize(
    "write",
    [
        lambda V, W, H: cp.sum(cp.kl_div(V, W @ H)),
        lambda V, W, H: cp.sum(cp.huber(V - W @ H, 0.3)),
        lambda V, W, H: cp.sum(cp.abs(V - W @ H)),
        lambda V, W, H: cp.sum_squares(V.T - H.T @ W.T),
    ],
)
def test_a_loss_in_the_users_own_words_agrees_with_itself(write):
    V = np.random.default_rng(2).random((4, 3)) + 0.1
    W, H = cp.Variable((4, 2), nonneg=True), cp.Variable((2, 3), nonneg=True)
    form = write(V, W, H)
    coupling = Coupling(form, {"W": (W, False), "H": (H, False)})
    A, B = np.random.default_rng(3).random((4, 2)), np.random.default_rng(4).random((2, 3))
    W.value, H.value = A, B
    factors = {"W": A, "H": B}
    assert coupling.value(factors) == pytest.approx(float(form.value))
    for name, flipped, X in (("W", True, A.T), ("H", False, B)):
        view = coupling.view(name, flipped, factors)
        assert view.value(X) == pytest.approx(float(form.value))
        assert view.expression(cp.Variable(X.shape, nonneg=True)).is_convex()


@settings(max_examples=15, deadline=None)
@given(seed=seeds, m=st.integers(2, 7), n=st.integers(1, 6))
def test_dense_and_sparse_weights_and_data_give_the_same_numbers(seed, m, n):
    Y, mask, A, B = draw(seed, m, n)
    weights = mask * (0.5 + Y)
    wanted = cn.WeightedFrobenius(weights)
    for M in (weights, sp.csr_array(weights)):
        for data in (Y, sp.csr_array(Y)):
            loss = cn.WeightedFrobenius(M)
            np.testing.assert_allclose(loss.value(data, A, B), wanted.value(Y, A, B), rtol=1e-10)
            np.testing.assert_allclose(
                loss.gradient(data, A, B), wanted.gradient(Y, A, B), rtol=1e-9, atol=1e-12
            )
            reduced = loss.reduced(data, A)
            assert reduced.value(B) == pytest.approx(wanted.value(Y, A, B), rel=1e-8)
            down, up = loss.ratio(data, A, B)
            np.testing.assert_allclose(up - down, wanted.gradient(Y, A, B), atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_hidden_entries_do_not_matter_to_the_loss(seed):
    Y, mask, A, B = draw(seed, 6, 5)
    other = np.where(mask, Y, 1e3)
    for M in (mask, sp.csr_array(mask)):
        loss = cn.WeightedFrobenius(M)
        assert loss.value(Y, A, B) == loss.value(other, A, B)
        np.testing.assert_array_equal(loss.gradient(Y, A, B), loss.gradient(other, A, B))


@pytest.mark.parametrize("solver", [cn.TangentPlane(), cn.Multiplicative(), cn.ProjectedGradient()])
def test_hidden_entries_do_not_matter_to_the_answer(solver):
    Y, mask, A, B = draw(7, 8, 6, rank=2)
    other = np.where(mask, Y, 55.0)
    found = [
        cn.factorize(V, 2, loss=cn.WeightedFrobenius(mask)).solve(solver, init=(A, B), stop=5)
        for V in (Y, other)
    ]
    np.testing.assert_array_equal(found[0].W, found[1].W)
    np.testing.assert_array_equal(found[0].H, found[1].H)
    assert found[0].relative_error == found[1].relative_error


def test_missing_entries_of_low_rank_data_are_filled_in():
    rng = np.random.default_rng(11)
    V = rng.random((12, 2)) @ rng.random((2, 10))
    mask = rng.random(V.shape) < 0.75
    problem = cn.factorize(np.where(mask, V, 0.0), 2, loss=cn.WeightedFrobenius(mask))
    result = problem.solve(cn.TangentPlane(), stop=cn.MaxIter(300))
    hidden = np.abs(result.W @ result.H - V)[~mask]
    assert hidden.max() < 0.02


def test_sparse_weights_never_make_a_dense_matrix_of_the_size_of_the_data():
    m, n, count = 40_000, 30_000, 500
    rng = np.random.default_rng(0)
    at = rng.integers(m, size=count), rng.integers(n, size=count)
    M = sp.csr_array((np.ones(count), at), shape=(m, n))
    Y = sp.csr_array((rng.random(count), at), shape=(m, n))
    A, B = rng.random((m, 2)), rng.random((2, n))
    loss = cn.WeightedFrobenius(M)
    rows, columns = M.nonzero()
    product = np.einsum("ij,ji->i", A[rows], B[:, columns])
    wanted = np.sum(M.data**2 * (np.asarray(Y[rows, columns]).ravel() - product) ** 2)
    assert loss.value(Y, A, B) == pytest.approx(wanted)
    assert loss.gradient(Y, A, B).shape == B.shape
    assert loss.reduced(Y, A).D.shape == B.shape


def test_large_data_are_summed_in_parts_to_the_same_value():
    rng = np.random.default_rng(0)
    Y, A, B = rng.random((1500, 900)), rng.random((1500, 3)), rng.random((3, 900))
    wanted = np.linalg.norm(Y - A @ B) ** 2
    assert cn.Frobenius().value(Y, A, B) == pytest.approx(wanted)
    assert cn.WeightedFrobenius(np.ones(Y.shape)).value(Y, A, B) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cn.Frobenius(0.0), ["> 0", "0.0"]),
        (lambda: cn.WeightedFrobenius(np.ones((2, 2)), np.inf), ["> 0", "inf"]),
        (lambda: cn.WeightedFrobenius(-np.ones((2, 2))), ["non-negative", "-1.0"]),
        (lambda: cn.WeightedFrobenius(np.zeros((2, 2))), ["not all zero"]),
        (lambda: cn.WeightedFrobenius(np.full((2, 2), np.nan)), ["finite"]),
        (lambda: cn.WeightedFrobenius(np.array([["a"]])), ["real numbers"]),
        (
            lambda: cn.factorize(np.ones((3, 2)), 1, loss=cn.WeightedFrobenius(np.ones((2, 3)))),
            ["(3, 2)", "(2, 3)"],
        ),
    ],
)
def test_bad_settings_are_refused_with_the_rule_and_the_value(make, words):
    with pytest.raises(cn.InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_every_loss_that_is_shipped_is_checked():
    squares = {"Frobenius", "WeightedFrobenius"}  # here
    divergences = {"BetaDivergence", "ItakuraSaito", "KullbackLeibler"}  # in test_divergences.py
    robust = {"Huber", "Absolute", "Logistic"}  # in test_robust.py
    assert set(losses.__all__) == squares | divergences | robust


def test_gram_matrices_of_single_precision_are_those_of_double():
    """A column with fewer observed entries than components is singular, up to true rounding."""
    rng = np.random.default_rng(0)
    A, Y = rng.random((8, 7)), rng.random((8, 5))
    M = rng.random((8, 5)) > 0.5
    single = [X.astype(np.float32) for X in (Y, A)]
    G, C = cn.WeightedFrobenius(M).grams(*single, slice(None))
    known = [X.astype(np.float64) for X in single]
    same = cn.WeightedFrobenius(M).grams(*known, slice(None))
    np.testing.assert_allclose(G, same[0], rtol=1e-12)
    np.testing.assert_allclose(C, same[1], rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_free_factors_of_single_precision_with_missing_entries_stay_finite(seed):
    rng = np.random.default_rng(seed)
    V = (rng.random((8, 7)) @ rng.random((7, 7))).astype(np.float32)
    M = (rng.random(V.shape) > 0.3) * rng.uniform(0.2, 2, V.shape)
    problem = cn.factorize(V, 7, W=[], loss=cn.WeightedFrobenius(M))
    assert problem.solve("ANLS", stop=5, seed=seed).status.kind != "failed"
