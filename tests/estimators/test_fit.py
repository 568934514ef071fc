"""An estimator solves the problem it names: the same factors as the statement's own solve."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import conicnmf as cn
from conicnmf.estimators import L0NMF, Factorizer, NonNegativeSparseCoding, SparseNMF, SparsePCA
from conicnmf.extend import Loss
from conicnmf.families.coding import L0
from conicnmf.solve.choice import choose
from experiments.heiler_sparse_pca import SEPARATED, block_share


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).random((25, 12))


NONNEG = cn.NonNegative()
SAME = {
    "band": (
        SparseNMF(3, sparseness=(0.5, 0.7), code_sparseness=0.3, code_each="component"),
        {"W": [NONNEG, cn.Sparseness(0.5, 0.7)], "H": [NONNEG, cn.Sparseness(0.3)]},
        None,
    ),
    "coding": (
        NonNegativeSparseCoding(3, weight=0.4),
        {"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.4)]},
        None,
    ),
    "l0": (L0NMF(3, weight=0.3), {}, cn.Coded(L0(0.3))),
    "general": (
        Factorizer(3, H=[cn.Simplex(each="sample")], solver="projectedgradient"),
        {"H": [cn.Simplex(each="sample")]},
        cn.ProjectedGradient(),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_fit_is_the_solve_of_the_same_problem_and_seed(name, X):
    model, terms, solver = SAME[name]
    problem = cn.factorize(X.T, 3, **terms)
    # A fit is one run; `n_starts` asks for more, where `solve` would let a few of them race.
    result = problem.solve(solver or choose(problem)[0], seed=5)
    model.set_params(random_state=5).fit(X)
    np.testing.assert_array_equal(model.components_, result.W.T)
    assert model.result_.objective == result.objective
    distance = np.linalg.norm(X - result.H.T @ result.W.T)
    assert model.reconstruction_err_ == pytest.approx(distance, rel=1e-10)


def test_more_starts_keep_the_best(X):
    runs = cn.multistart(cn.factorize(X.T, 3), cn.HALS(), 4, stop=10)
    model = Factorizer(3, solver=cn.HALS(), n_starts=4, max_iter=10, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    np.testing.assert_array_equal(model.components_, runs.best.W.T)


def test_missing_entries_are_left_out_of_the_loss(X):
    known = np.random.default_rng(1).random(X.shape) > 0.2
    model = SparseNMF(2, solver="Multiplicative", max_iter=500, tol=1e-2)
    model.fit(np.where(known, X, np.nan))
    loss = cn.WeightedFrobenius(known.T)
    problem = cn.factorize(np.where(known, X, 0).T, 2, loss=loss)
    result = problem.solve(cn.Multiplicative(), stop=cn.MaxIter(500) | cn.RelDecrease(1e-2))
    np.testing.assert_array_equal(model.components_, result.W.T)
    left = (X - result.H.T @ result.W.T)[known]
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(left), rel=1e-10)


def test_low_rank_data_are_filled_in(X):
    X = cn.datasets.low_rank(30, 40, 2, seed=0).V.T
    hidden = np.random.default_rng(0).random(X.shape) < 0.1
    model = SparseNMF(2, solver="Multiplicative", max_iter=5000, tol=1e-6)
    codes = model.fit_transform(np.where(hidden, np.nan, X))
    guess = model.inverse_transform(codes)
    assert np.linalg.norm((guess - X)[hidden]) < 0.02 * np.linalg.norm(X[hidden])


def test_a_fit_cut_short_warns_and_a_finished_one_does_not(X):
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations; raise max_iter"):
        SparseNMF(3, max_iter=2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseNMF(3, tol=1e-2).fit(X)
        L0NMF(3, max_iter=2).fit(X)  # a number of alternations is all it has


def test_an_unknown_solver_is_refused_with_the_names(X):
    with pytest.raises(cn.InputError, match=r"no solver is called 'hal'; did you mean HALS"):
        SparseNMF(2, solver="hal").fit(X)


def test_a_band_of_three_numbers_is_refused(X):
    with pytest.raises(cn.InputError, match=r"or a tuple .* or None, got sparseness="):
        SparseNMF(2, sparseness=(0.1, 0.2, 0.3)).fit(X)


def test_a_solver_that_does_not_fit_says_why(X):
    with pytest.raises(cn.IncompatibleError, match="W must be constrained by NonNegative alone"):
        SparseNMF(2, sparseness=0.5, solver="Multiplicative").fit(X)


def test_a_generator_as_random_state_draws_another_start_each_time(X):
    draw = np.random.RandomState(0)
    model = SparseNMF(2, random_state=draw)
    seeds = {model.fit(X).result_.seed for _ in range(3)}
    assert len(seeds) == 3


def test_sparse_components_separate_hidden_factors_that_pca_mixes():
    X = cn.datasets.three_factors(seed=0).V.T
    model = SparsePCA(3, sparseness=0.53).fit(X)
    assert block_share(model.components_.T) > SEPARATED
    assert cn.sparseness(model.components_, axis=1).min() > 0.53 - 1e-6
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert model.score(X) > 0.99
    dense = SparsePCA(3, sparseness=None).fit(X)
    assert block_share(dense.components_.T) < SEPARATED


def test_sparse_pca_adds_the_mean_back():
    X = 5 + np.random.default_rng(0).standard_normal((40, 6))
    model = SparsePCA(6, sparseness=None, ridge=1e-6).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)


@pytest.mark.parametrize("value", [1.0, 0.1, 0.7 * 2.0**-24])
def test_sparse_pca_of_one_sample_many_times_is_refused(value):
    with pytest.raises(cn.InputError, match="that differ, got the same sample 7 times; samples"):
        SparsePCA().fit(np.full((7, 3), value))  # a mean of which differs by its rounding


def test_missing_entries_and_a_loss_that_counts_all_do_not_go_together():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    whole = type("Whole", (cn.Frobenius,), {"masked": Loss.masked})
    with pytest.raises(cn.InputError, match="counts every entry, and X has NaN"):
        Factorizer(1, loss=whole()).fit(X)


def test_a_price_on_the_entries_of_atoms_makes_them_sparse():
    X = cn.datasets.load("digits", n_samples=200).V.T
    dense = L0NMF(8, weight=0.1, max_iter=15).fit(X)
    sparse = L0NMF(8, weight=0.1, dictionary_weight=0.5, max_iter=15).fit(X)
    assert (sparse.components_ > 0).mean() < 0.7 * (dense.components_ > 0).mean()
    assert sparse.score(X) > 0.75


@pytest.mark.parametrize("name", ["SparseNMF", "ProjectiveNMF", "SparsePCA", "SESM"])
def test_a_mask_is_not_ignored(name):
    X = np.ma.masked_array(np.random.default_rng(0).random((9, 5)), False)
    X[0, 0] = np.ma.masked
    with pytest.raises(cn.InputError, match="masked"):
        getattr(cn.estimators, name)(2).fit(X)


def test_l0_codes_start_from_samples_where_that_is_asked():
    X = np.random.default_rng(0).random((30, 8))
    problem = cn.factorize(X.T, 4)
    for init in ("data-columns", cn.DataColumns(average=1)):
        model = L0NMF(4, weight=0.3, init=init, max_iter=3).fit(X)
        start = cn.DataColumns() if isinstance(init, str) else init
        expected = problem.solve(cn.Coded(L0(0.3)), init=start, stop=3, seed=0)
        np.testing.assert_allclose(model.components_, expected.W.T)
    drawn = L0NMF(4, weight=0.3, max_iter=3).fit(X)
    assert not np.allclose(model.components_, drawn.components_)


def test_missing_entries_are_refused_with_the_way_to_code_them():
    X = np.random.default_rng(0).random((30, 8))
    model = L0NMF(4, weight=0.3, max_iter=3).fit(X)
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(cn.InputError, match="use SparseNMF"):
        L0NMF(4).fit(holes)
    with pytest.raises(cn.InputError, match=r"known=~np\.isnan\(X\.T\)"):
        model.transform(holes)
    codes = cn.sparse_code(holes.T, model.components_.T, L0(0.3), known=~np.isnan(holes.T))
    np.testing.assert_allclose(codes.T[1:], model.transform(X)[1:], atol=1e-9)
