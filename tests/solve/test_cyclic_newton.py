"""Kullback–Leibler divergences by steps on single entries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

RNG = np.random.default_rng(4)
V = RNG.poisson(3.0, (12, 15)).astype(float)
PLUS = cn.NonNegative()
WEIGHTS = (RNG.random(V.shape) < 0.8) * RNG.uniform(0.5, 2.0, V.shape)

MODELS = {
    "plain": {},
    "penalties": {"W": [PLUS, cn.L2(0.2)], "H": [PLUS, cn.L1(0.5)]},
    "weights": {"loss": cn.KullbackLeibler(weights=WEIGHTS, scale=0.5)},
    "sparse weights": {"loss": cn.KullbackLeibler(weights=sp.csr_array(WEIGHTS))},
    "offset": {"offset": "feature", "b": [PLUS]},
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", list(MODELS))
def test_it_never_rises_and_ends_below_multiplicative_rules(name, sparse):
    data = sp.csr_array(V) if sparse else V
    problem = cn.factorize(data, 3, **{"loss": "kl", **MODELS[name]})
    result = problem.solve(cn.CyclicNewton(), stop=150)
    values = result.history.objective
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    slow = problem.solve(cn.Multiplicative(), stop=150)
    assert result.objective <= slow.objective * (1 + 1e-3)


def test_sparse_and_dense_data_take_the_same_steps():
    dense, sparse = (
        cn.factorize(X, 3, loss="kl").solve(cn.CyclicNewton(), stop=10)
        for X in (V, sp.csr_array(V))
    )
    np.testing.assert_allclose(sparse.W, dense.W, rtol=1e-6)


def test_the_end_is_certified():
    problem = cn.factorize(V, 3, loss="kl")
    result = problem.solve(cn.CyclicNewton(), stop=cn.RelDecrease(1e-8) | cn.MaxIter(3000))
    assert result.certificate().ok


def test_it_is_the_default_for_sparse_counts():
    assert "CyclicNewton is picked" in cn.factorize(sp.csr_array(V), 3, loss="kl").explain()


def test_what_it_does_not_serve_is_told():
    problem = cn.factorize(V, 3)
    with pytest.raises(cn.IncompatibleError, match="has no poisson form"):
        problem.solve(cn.CyclicNewton())


def test_sparse_data_are_brought_into_columns_once(monkeypatch):
    calls, convert = [], sp.csr_array.tocsc

    def counted(X, *given, **named):
        calls.append(X.shape)
        return convert(X, *given, **named)

    monkeypatch.setattr(sp.csr_array, "tocsc", counted)
    cn.factorize(sp.csr_array(V), 3, loss="kl").solve(cn.CyclicNewton(), stop=10)
    assert len(calls) <= 2
