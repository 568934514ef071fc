"""`NMF` and `MiniBatchNMF` take the place of scikit-learn's, and do more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.decomposition._nmf import _beta_divergence
from sklearn.utils.estimator_checks import check_estimator

import conicnmf as cn
from benchmarks.sklearn_tests import report, run
from conicnmf.estimators import NMF, MiniBatchNMF, non_negative_factorization

CUT_SHORT = pytest.mark.filterwarnings("ignore:Maximum number of iterations")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(5)
    return rng.gamma(1.0, 1.0, (30, 4)) @ rng.gamma(1.0, 1.0, (4, 12)) + 0.1 * rng.random((30, 12))


QUICK = "checking or warning or custom_init or float32 or regularization or auto"


@pytest.mark.parametrize(
    ("chosen", "least"), [(QUICK, 15), pytest.param("", 270, marks=pytest.mark.long)]
)
def test_scikit_learns_own_tests_pass(chosen, least):
    told = report(run(chosen))
    assert told["unknown"] == {}
    assert told["passed"] >= least


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model", [NMF(2), MiniBatchNMF(2, max_iter=5)], ids=["NMF", "MiniBatchNMF"]
)
def test_scikit_learn_finds_nothing_to_complain_about(model):
    check_estimator(model, on_skip=None)


@CUT_SHORT
@pytest.mark.parametrize("beta", [2, 1, 0, 0.5, 2.5])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.7])
def test_the_objective_is_the_one_that_scikit_learn_states(X, beta, l1_ratio):
    model = NMF(3, solver="mu", beta_loss=beta, alpha_W=0.02, alpha_H=0.01, l1_ratio=l1_ratio)
    W, H = model.set_params(max_iter=20, random_state=0).fit_transform(X), model.components_
    divergence = _beta_divergence(X, W, H, beta)
    price = 0.0
    for F, weight in ((W, 0.02 * X.shape[1]), (H, 0.01 * X.shape[0])):
        price += weight * (l1_ratio * F.sum() + (1 - l1_ratio) / 2 * (F**2).sum())
    assert model.result_.objective == pytest.approx(divergence + price, rel=1e-9)
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(2 * divergence), rel=1e-9)


@CUT_SHORT
def test_the_fit_is_about_as_good_as_theirs(X):
    ours, theirs = (kind(4, random_state=1, tol=1e-5).fit(X) for kind in (NMF, decomposition.NMF))
    assert ours.reconstruction_err_ < 1.02 * theirs.reconstruction_err_


@CUT_SHORT
def test_missing_entries_sparseness_and_terms_come_on_top(X):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = NMF(4, random_state=0, max_iter=500).fit(holes)
    filled = model.inverse_transform(model.transform(holes))
    missing = np.isnan(holes)
    assert np.linalg.norm((filled - X)[missing]) < 0.2 * np.linalg.norm(X[missing])
    sparse = NMF(3, sparseness=0.5, code_terms=[cn.Simplex(each="sample")], random_state=0).fit(X)
    assert cn.sparseness(sparse.components_, axis=1).min() > 0.5 - 1e-6
    np.testing.assert_allclose(sparse.transform(X).sum(axis=1), 1, atol=1e-5)


@CUT_SHORT
def test_batches_keep_terms_on_components_and_take_any_divergence(X):
    model = MiniBatchNMF(3, sparseness=0.5, batch_size=7, random_state=0).fit(X)
    assert cn.sparseness(model.components_, axis=1).min() > 0.5 - 1e-6
    for beta in (0.5, 1, 1.5):
        batched = MiniBatchNMF(4, beta_loss=beta, batch_size=10, random_state=0).fit(X)
        theirs = decomposition.MiniBatchNMF(4, beta_loss=beta, batch_size=10, random_state=0).fit(X)
        assert batched.reconstruction_err_ < 1.1 * theirs.reconstruction_err_
    with pytest.raises(cn.IncompatibleError, match="batch by batch"):
        MiniBatchNMF(3, beta_loss=1, sparseness=0.5, random_state=0).fit(X)


def test_a_feature_that_one_batch_lacks_comes_back_with_the_next():
    X = np.ones((20, 3))
    X[:10, 0] = 0
    model = MiniBatchNMF(2, beta_loss=1, batch_size=10, init="random", random_state=0).fit(X)
    assert np.isfinite(model.reconstruction_err_)
    assert model.reconstruction_err_ < 1


@CUT_SHORT
def test_shuffled_components_are_the_same_kind_of_answer(X):
    plain, mixed = (NMF(3, shuffle=s, random_state=0).fit(X) for s in (False, True))
    assert mixed.reconstruction_err_ == pytest.approx(plain.reconstruction_err_, rel=0.05)


def test_names_go_in_and_out(X):
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
    model = NMF(3, random_state=0).set_output(transform="pandas")
    assert list(model.fit_transform(frame).columns) == ["nmf0", "nmf1", "nmf2"]
    assert list(model.feature_names_in_) == list(frame.columns)


def test_codes_for_given_components_are_exact(X):
    H = NMF(4, random_state=0).fit(X).components_
    W, same, _ = non_negative_factorization(sp.csr_array(X), H=H, n_components=4, update_H=False)
    assert same is H
    gradient = (W @ H - X) @ H.T
    assert gradient.min() > -1e-8
    assert abs((W * gradient).max()) < 1e-8


@pytest.mark.filterwarnings("ignore:Maximum number")
@pytest.mark.parametrize(("model", "seed"), [(NMF, 0), (MiniBatchNMF, 18)])
def test_what_is_left_of_an_exact_model_is_zero_not_nan(model, seed):
    rng = np.random.default_rng(seed)
    X = np.outer(rng.random(6), rng.random(4))
    options = {"beta_loss": "kullback-leibler", "random_state": 0, "max_iter": 8} | _rule(model)
    assert 0 <= model(1, **options).fit(X).reconstruction_err_ < 1e-6


@pytest.mark.filterwarnings("ignore:Maximum number")
@pytest.mark.parametrize("model", [NMF, MiniBatchNMF])
def test_indices_of_sparse_samples_stay_in_their_order(model):
    X = sp.csc_array(np.arange(1.0, 13.0).reshape(4, 3))
    X.indices[:4], X.data[:4] = X.indices[:4][::-1].copy(), X.data[:4][::-1].copy()
    X.has_sorted_indices = False
    before = X.indices.copy()
    fitted = model(2, beta_loss="kullback-leibler", random_state=0, **_rule(model)).fit(X)
    fitted.transform(X)
    np.testing.assert_array_equal(X.indices, before)


def _rule(model):
    return {"solver": "mu"} if model is NMF else {}
