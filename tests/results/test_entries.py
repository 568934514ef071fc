"""The model at chosen entries is the product there, for results of every shape and estimators."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.estimators import Factorizer, SparseNMF

RNG = np.random.default_rng(0)
V = RNG.random((12, 9))
AT = (RNG.integers(-12, 12, (4, 5)), RNG.integers(-9, 9, (4, 5)))


@pytest.mark.parametrize("places", [AT, (3, 4), np.ix_([1, 5], [0, 2, 8]), ([], [])], ids=str)
def test_values_are_those_of_the_product(places):
    result = cn.factorize(V, 3).solve(stop=5)
    found = result.predict_entries(*places)
    i, j = (np.asarray(p, dtype=int) for p in places)
    np.testing.assert_allclose(found, (result.W @ result.H)[i, j])


def test_every_shape_has_entries():
    U = RNG.random((5, 9))
    views = cn.factorize({"a": V, "b": U}, 2).solve(stop=3)
    np.testing.assert_allclose(
        views.predict_entries([1, 2], [3, 4], "b"), (views["W_b"] @ views["H"])[[1, 2], [3, 4]]
    )
    with pytest.raises(cn.InputError, match="one of a, b, got None"):
        views.predict_entries(0, 0)
    level = cn.factorize(V, 2, offset="both").solve(stop=3)
    whole = level.W @ level.H + level["b"] + level["c"]
    np.testing.assert_allclose(level.predict_entries(*AT), whole[AT])
    three = cn.factorize(V, (3, 2)).solve(stop=3)
    np.testing.assert_allclose(
        three.predict_entries(*AT), (three["W"] @ three["S"] @ three["H"])[AT]
    )
    W, H = cp.Variable((12, 2), nonneg=True), cp.Variable((9, 2), nonneg=True)
    stated = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H.T))).solve(stop=3)
    np.testing.assert_allclose(stated.predict_entries(*AT), (stated[W] @ stated[H].T)[AT])


def test_loaded_results_know_w_and_h(tmp_path):
    result = cn.factorize(V, 2).solve(stop=3)
    again = cn.load(result.save(tmp_path / "one"))
    np.testing.assert_array_equal(again.predict_entries(*AT), result.predict_entries(*AT))
    three = cn.load(cn.factorize(V, (3, 2)).solve(stop=3).save(tmp_path / "three"))
    with pytest.raises(cn.InputError, match="loaded result"):
        three.predict_entries(0, 0)


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        ([12], [0], "rows must be from -12 to 11, got 12"),
        ([0], [-10], "columns must be from -9 to 8, got -10"),
        ([0.5], [0], "whole numbers, got float64"),
        (V > 0.5, [0], r"np\.nonzero"),
        ([0, 1], [0, 1, 2], "shapes"),
    ],
)
def test_places_outside_are_refused(rows, columns, words):
    with pytest.raises(cn.InputError, match=words):
        cn.factorize(V, 2).solve(stop=1).predict_entries(rows, columns)


LOSSES = ["kl", "is", "huber", "absolute", None, cn.BetaDivergence(1.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_estimators_predict_missing_entries_under_any_loss(loss):
    X = (RNG.gamma(2.0, size=(30, 2)) @ RNG.gamma(2.0, size=(2, 9))) + 0.1
    missing = RNG.random(X.shape) < 0.15
    holes = np.where(missing, np.nan, X)
    model = SparseNMF(3, loss=loss, tol=2e-3, max_iter=2000).fit(holes)  # the data fit exactly
    found = model.predict_entries(holes, *np.nonzero(missing))
    some = missing.any(axis=1)
    whole = model.inverse_transform(model.transform(holes[some]))
    np.testing.assert_allclose(found, whole[missing[some]])
    assert np.linalg.norm(found - X[missing]) < 0.4 * np.linalg.norm(X[missing])


def test_log_odds_of_missing_entries_are_predicted():
    odds = 3 * RNG.standard_normal((120, 1)) @ RNG.standard_normal((1, 15))
    X = (RNG.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)
    missing = RNG.random(X.shape) < 0.1
    holes = np.where(missing, np.nan, X)
    model = Factorizer(1, loss="logistic", W=[cn.L2(0.1)], H=[cn.L2(0.1)]).fit(holes)
    found = model.predict_entries(holes, *np.nonzero(missing))
    right, best = (np.mean((guess > 0) == X[missing]) for guess in (found, odds[missing]))
    assert right > best - 0.1, "who knows the odds guesses little better"


def test_only_samples_that_are_asked_for_are_coded(monkeypatch):
    X = sp.csr_array(V)
    model = SparseNMF(2).fit(X)
    coded = []
    find = model._codes
    monkeypatch.setattr(model, "_codes", lambda V, seen: coded.append(V.shape[1]) or find(V, seen))
    found = model.predict_entries(X, [[3], [-1], [3]], [0, 4])
    assert coded == [2]
    whole = model.inverse_transform(model.transform(V))
    np.testing.assert_allclose(found, whole[[[3], [-1], [3]], [0, 4]], atol=1e-9)
