"""Estimators take losses by name or as objects, with missing entries as NaN."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone

import conicnmf as cn
from conicnmf.estimators import Factorizer, SparseNMF

RNG = np.random.default_rng(0)
X = RNG.poisson(4 * RNG.random((25, 3)) @ RNG.random((3, 12))).astype(float)


@pytest.mark.parametrize("loss", ["kl", "huber", "absolute", cn.BetaDivergence(1.5)], ids=str)
def test_a_loss_is_that_of_the_problem(loss):
    model = SparseNMF(2, loss=loss, max_iter=10, tol=0, solver="Multiplicative")
    with pytest.warns(UserWarning, match="limit"):
        model.fit(X)
    problem = cn.factorize(X.T, 2, loss=loss)
    result = problem.solve("Multiplicative", stop=10)
    np.testing.assert_allclose(model.components_, result.W.T)
    assert repr(clone(model).loss) == repr(loss)


@pytest.mark.parametrize("loss", ["kl", cn.Huber(0.5), "frobenius"], ids=str)
def test_missing_entries_are_left_out_of_any_loss(loss):
    known = RNG.random(X.shape) > 0.2
    spoiled = np.where(known, X, np.nan)
    model = Factorizer(2, loss=loss, tol=1e-3).fit(spoiled)
    codes = model.transform(spoiled)
    assert np.isfinite(codes).all()
    assert model._problem(*model._data(spoiled, reset=False)).fit.loss.weights.sum() == known.sum()


def test_codes_of_counts_have_the_least_divergence():
    model = SparseNMF(2, loss="kl", tol=1e-4).fit(X)
    codes = model.transform(X[:4])
    D = model.components_.T

    for x, code in zip(X[:4], codes, strict=True):

        def divergence(h, x=x):
            return cn.KullbackLeibler().value(x[:, None], D, np.maximum(h, 1e-12)[:, None])

        best = minimize(divergence, code + 0.1, bounds=[(1e-9, None)] * 2, method="L-BFGS-B")
        assert divergence(code) <= best.fun + 1e-4 * (1 + best.fun)


def test_sparse_counts_are_fitted_and_coded():
    model = SparseNMF(2, loss="kl", sparseness=0.3, tol=1e-2)
    codes = model.fit(sp.csr_array(X)).transform(sp.csr_array(X[:5]))
    dense = model.transform(X[:5])
    np.testing.assert_allclose(codes, dense, rtol=1e-3, atol=1e-3)
    assert cn.sparseness(model.components_, axis=1).min() > 0.3 - 1e-6


def test_data_outside_of_the_domain_are_refused():
    with pytest.raises(cn.InputError, match="KullbackLeibler needs V >= 0"):
        SparseNMF(2, loss="kl").fit(X - 3)
    model = SparseNMF(2, loss="kl", tol=1e-2).fit(X)
    with pytest.raises(cn.InputError, match="KullbackLeibler needs X >= 0"):
        model.transform(X - 3)


def test_names_of_losses_are_checked():
    with pytest.raises(cn.InputError, match="no loss is called 'kullback'"):
        SparseNMF(2, loss="kullback").fit(X)


def test_batches_need_squares():
    model = SparseNMF(2, loss="kl", tol=1e-2).partial_fit(X)
    with pytest.raises(cn.IncompatibleError, match="not a sum of squares"):
        model.partial_fit(X)
