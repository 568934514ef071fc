"""Divergences agree with their formulas, whatever form data and weights have."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition._nmf import _beta_divergence

import conicnmf as cn
from conicnmf.testing import check_loss

RNG = np.random.default_rng(3)
COUNTS = RNG.poisson(1.0, (6, 5)).astype(float)
POSITIVE = RNG.random((6, 5)) + 0.1
MASK = RNG.random((6, 5)) < 0.6
WEIGHTS = {
    "none": None,
    "mask": MASK,
    "dense": RNG.random((6, 5)),
    "sparse": sp.csr_array(MASK * RNG.random((6, 5))),
    "feature": RNG.random((6, 1)),
    "sample": RNG.random((1, 5)),
}
BETAS = [-1.0, 0.0, 0.5, 1.0, 1.3, 2.0, 3.0]


def full(weights):
    if sp.issparse(weights):
        return weights.toarray()
    return 1.0 if weights is None else np.broadcast_to(weights, (6, 5)).astype(float)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("beta", BETAS)
def test_every_form_agrees_with_the_value(beta, weights):
    check_loss(cn.BetaDivergence(beta, weights=weights, scale=0.7), POSITIVE)
    if beta > 0:
        check_loss(cn.BetaDivergence(beta, weights=weights), COUNTS + (beta > 1) * 0.1)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_kullback_leibler_on_counts(weights):
    check_loss(cn.KullbackLeibler(weights=weights, scale=2.0), COUNTS)
    check_loss(cn.WeightedFrobenius(MASK if weights is None else weights), COUNTS)


@pytest.mark.parametrize("beta", BETAS)
def test_values_are_those_of_scikit_learn(beta):
    W, H = RNG.random((6, 2)) + 0.1, RNG.random((2, 5)) + 0.1
    wanted = _beta_divergence(POSITIVE, W, H, beta)
    assert cn.BetaDivergence(beta).value(POSITIVE, W, H) == pytest.approx(wanted, rel=1e-10)


def test_names_of_betas_are_the_same_losses():
    W, H = RNG.random((6, 2)) + 0.1, RNG.random((2, 5)) + 0.1
    for named, beta in ((cn.KullbackLeibler(), 1.0), (cn.ItakuraSaito(), 0.0)):
        general = cn.BetaDivergence(beta)
        assert named.value(POSITIVE, W, H) == pytest.approx(general.value(POSITIVE, W, H))
        for mine, theirs in zip(
            named.ratio(POSITIVE, W, H), general.ratio(POSITIVE, W, H), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
        assert named.powers == general.powers
        assert named.degree == beta
    half = cn.Frobenius(0.5).value(POSITIVE, W, H)
    assert cn.BetaDivergence(2.0).value(POSITIVE, W, H) == pytest.approx(half)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), density=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_sparse_data_give_the_same_divergence_as_dense(seed, density):
    rng = np.random.default_rng(seed)
    Y = rng.poisson(2.0, (7, 6)) * (rng.random((7, 6)) < density) * 1.0
    A, B = rng.random((7, 3)), rng.random((3, 6))
    A[rng.random(A.shape) < 0.3] = 0.0
    for weights in (None, rng.random((7, 6)), rng.random((7, 1)), rng.random((1, 6))):
        loss = cn.KullbackLeibler(weights=weights)
        dense, sparse = (loss.value(X, A, B) for X in (Y, sp.csr_array(Y)))
        assert sparse == pytest.approx(dense, rel=1e-10, abs=1e-12)
        if np.isfinite(dense):
            np.testing.assert_allclose(
                loss.gradient(sp.csr_array(Y), A, B), loss.gradient(Y, A, B), atol=1e-10
            )


def test_sparse_counts_are_never_made_dense(monkeypatch):
    V = sp.csr_array(RNG.poisson(0.2, (40, 30)).astype(float))

    def refuse(*_, **__):
        raise AssertionError("sparse data were made dense")

    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    result = cn.factorize(V, 3, loss="kl").solve(stop=5)
    assert result.objective < result.history.objective[0]


@pytest.mark.parametrize("loss", ["kl", "is", cn.BetaDivergence(1.5, weights=MASK)], ids=str)
def test_single_precision_is_kept(loss):
    V = POSITIVE.astype(np.float32)
    result = cn.factorize(V, 2, loss=loss).solve(stop=5)
    assert result.W.dtype == result.H.dtype == np.float32
    made = result.problem.fit.loss
    for part in (*made.ratio(V, result.W, result.H), made.gradient(V, result.W, result.H)):
        assert part.dtype == np.float32


def test_outside_the_domain_the_divergence_is_infinite():
    zero = np.zeros((6, 1)), np.zeros((1, 5))
    for loss in (cn.KullbackLeibler(), cn.ItakuraSaito()):
        assert loss.value(POSITIVE, *zero) == np.inf
        assert loss.value(POSITIVE, -np.ones((6, 1)), np.ones((1, 5))) == np.inf
    assert cn.KullbackLeibler().value(0 * POSITIVE, *zero) == 0
    assert cn.KullbackLeibler().value(sp.csr_array(COUNTS), *zero) == np.inf


@pytest.mark.parametrize(
    ("loss", "V", "rule"),
    [
        ("kl", COUNTS - 1, "KullbackLeibler needs V >= 0, got -1; shift or clip V"),
        ("is", COUNTS, "ItakuraSaito needs V > 0, got 0; add a small number"),
        ("is", sp.csr_array(COUNTS), "ItakuraSaito needs V > 0, got 0"),
        (cn.BetaDivergence(0.5), -POSITIVE, "BetaDivergence needs V >= 0, got -"),
        (cn.KullbackLeibler(weights=MASK), COUNTS - 1, "needs V >= 0"),
    ],
)
def test_data_are_judged_at_the_door(loss, V, rule):
    with pytest.raises(cn.InputError, match=rule):
        cn.factorize(V, 2, loss=loss)


def test_entries_without_a_weight_may_be_anything():
    V = np.where(MASK, POSITIVE, -7.0)
    result = cn.factorize(V, 2, loss=cn.ItakuraSaito(weights=MASK)).solve(stop=20)
    assert result.objective < result.history.objective[0]


@pytest.mark.parametrize(
    "weights",
    [np.ones(6), np.ones((5, 6)), sp.csr_array(np.ones((6, 1)))],
    ids=["1d", "turned", "s"],
)
def test_weights_of_another_shape_are_refused(weights):
    with pytest.raises(cn.InputError, match=r"weights must|2-D|two"):
        cn.factorize(COUNTS, 2, loss=cn.KullbackLeibler(weights=weights))


def test_names_stand_for_losses():
    names = {
        "kl": cn.KullbackLeibler,
        "kullback-leibler": cn.KullbackLeibler,
        "KullbackLeibler": cn.KullbackLeibler,
        "is": cn.ItakuraSaito,
        "itakura-saito": cn.ItakuraSaito,
        "frobenius": cn.Frobenius,
    }
    for name, kind in names.items():
        assert type(cn.factorize(POSITIVE, 2, loss=name).loss) is kind


@pytest.mark.parametrize("beta", BETAS)
def test_multiples_and_units(beta):
    loss, W, H = cn.BetaDivergence(beta), RNG.random((6, 2)) + 0.1, RNG.random((2, 5)) + 0.1
    value = loss.value(POSITIVE, W, H)
    assert loss.times(3.0).value(POSITIVE, W, H) == pytest.approx(3 * value)
    assert loss.scaled(8.0).value(8 * POSITIVE, 8 * W, H) == pytest.approx(value)


def test_relative_errors_are_squared_over_the_observed_entries():
    result = cn.factorize(POSITIVE, 2, loss=cn.KullbackLeibler(weights=MASK)).solve(stop=10)
    R = POSITIVE - result.W @ result.H
    wanted = (MASK * R**2).sum() / (MASK * POSITIVE**2).sum()
    assert result.relative_error == pytest.approx(wanted)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_an_entry_without_a_weight_is_no_part_of_the_sum_for_cvxpy_either(store):
    V, weights = np.array([[2.0, 1.0]]), store(np.array([[0.0, 3.0]]))
    problem = cn.factorize(V, 1, loss=cn.KullbackLeibler(weights=weights))
    factors = {"W": np.ones((1, 1)), "H": np.array([[0.0, 0.5]])}  # infinitely far from the first
    wanted = 3 * (np.log(2) - 1 + 0.5)
    assert problem.objective(factors) == pytest.approx(wanted)
    assert problem.restated(factors) == pytest.approx(wanted)


def test_a_count_of_zero_costs_the_model_however_large_it_is():
    Y, A, B = np.array([[0.0, 2.0**198]]), np.array([[2.0**198]]), np.ones((1, 2))
    assert cn.KullbackLeibler().value(Y, A, B) == 2.0**198


@pytest.mark.parametrize("masked", [False, True])
def test_beta_two_is_solved_as_the_half_squares_that_it_is(masked):
    weights = RNG.random(POSITIVE.shape) if masked else None
    W = [cn.NonNegative(), cn.Sparseness(0.4, 0.4)]
    problem = cn.factorize(POSITIVE, 2, W=W, loss=cn.BetaDivergence(2, weights=weights))
    result = problem.solve(stop=20)
    M = 1.0 if weights is None else weights
    assert result.objective == pytest.approx(
        0.5 * (M * (POSITIVE - result.W @ result.H) ** 2).sum(), rel=1e-9
    )
    assert result.objective < 0.5 * result.history[0].objective
    squares = cn.Frobenius(0.5) if weights is None else cn.WeightedFrobenius(np.sqrt(weights), 0.5)
    same = cn.factorize(POSITIVE, 2, W=W, loss=squares).solve(stop=20)
    assert result.objective == pytest.approx(same.objective, rel=1e-12)
    with pytest.raises(cn.InputError, match="needs V >= 0"):
        cn.factorize(-POSITIVE, 2, loss=cn.BetaDivergence(2))
