"""Multiplicative updates with momentum: never up, lower than plain ones, and the same end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.kernels.stored import stored_products

RNG = np.random.default_rng(11)
V = RNG.gamma(2.0, 1.0, (14, 4)) @ RNG.gamma(0.5, 1.0, (4, 18)) + 0.05
PLUS = cn.NonNegative()
MASK = (RNG.random(V.shape) < 0.8) * RNG.uniform(0.5, 2.0, V.shape)
LOSSES = {
    "kl": cn.KullbackLeibler(),
    "is": cn.ItakuraSaito(),
    "beta 0.5": cn.BetaDivergence(0.5),
    "beta 1.5": cn.BetaDivergence(1.5),
    "beta 3": cn.BetaDivergence(3.0),
    "weights": cn.KullbackLeibler(weights=MASK),
    "sparse weights": cn.KullbackLeibler(weights=sp.csr_array(MASK)),
    "squares": cn.Frobenius(),
}


@pytest.mark.parametrize("name", list(LOSSES))
@pytest.mark.parametrize("penalized", [False, True])
def test_it_never_rises_and_ends_below_the_plain_rule(name, penalized):
    terms = {"W": [PLUS, cn.L2(0.1)], "H": [PLUS, cn.L1(0.1)]} if penalized else {}
    problem = cn.factorize(V, 3, loss=LOSSES[name], **terms)
    result = problem.solve(cn.AcceleratedMultiplicative(sweeps=2), stop=60)
    values = result.history.objective
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    plain = problem.solve(cn.Multiplicative(), stop=120)
    assert result.objective <= plain.objective * (1 + 1e-3)


def test_the_end_is_certified():
    counts = np.random.default_rng(4).poisson(3.0, (12, 15)).astype(float)
    problem = cn.factorize(counts, 3, loss="kl")
    result = problem.solve(
        cn.AcceleratedMultiplicative(), stop=cn.RelDecrease(1e-9) | cn.MaxIter(4000)
    )
    assert result.certificate().ok


def test_an_entry_near_zero_comes_back():
    W, H = np.array([[1.0, 1e-12], [1e-12, 1.0]]), np.eye(2) + 0.1
    problem = cn.factorize(np.array([[1.0, 2.0], [3.0, 1.0]]), 2, loss="kl")
    plain, fast = (
        problem.solve(solver, init=(W, H), stop=30).objective
        for solver in (cn.Multiplicative(), cn.AcceleratedMultiplicative(sweeps=1))
    )
    assert fast < 1e-3 * plain


def test_zeros_stay_and_precision_is_kept():
    W = np.abs(RNG.normal(size=(14, 3))).astype(np.float32)
    W[:5, 0] = 0
    start = W, np.ones((3, 18), dtype=np.float32)
    problem = cn.factorize(V.astype(np.float32), 3, loss="kl")
    found = problem.solve(cn.AcceleratedMultiplicative(), init=start, stop=20)
    assert found.W.dtype == np.float32
    assert not found.W[:5, 0].any()


def test_quiet_entries_of_spectra_are_not_lifted_for_long():
    # Where tiny entries count as much as large ones, every lift would raise the divergence.
    rng = np.random.default_rng(5)
    W, H = 10.0 ** rng.uniform(-9, 0, (30, 3)), 10.0 ** rng.uniform(-3, 0, (3, 40))
    problem = cn.factorize(W @ H * rng.gamma(4.0, 0.25, (30, 40)), 3, loss=cn.ItakuraSaito())
    values = problem.solve(cn.AcceleratedMultiplicative(), stop=100).history.objective
    assert (np.diff(values) == 0).mean() < 0.25


def test_a_rise_is_undone_and_plain_updates_follow():
    # A data set on which momentum overshoots: the history stands still, and falls again.
    problem = cn.factorize(V, 3, loss="kl")
    values = problem.solve(cn.AcceleratedMultiplicative(sweeps=1), stop=150).history.objective
    stood = np.flatnonzero(np.diff(values) == 0)
    assert stood.size
    assert (values[stood[0] + 2 :] < values[stood[0]]).all()


def test_dense_counts_begin_here_and_end_with_newton_steps():
    large = cn.factorize(np.tile(V, (8, 8)), 3, loss="kl")
    assert "AcceleratedMultiplicative → CyclicNewton is picked" in large.explain()
    small = cn.factorize(V, 3, loss="kl")
    assert "CyclicNewton → Splitting is picked" in small.explain()
    for result in (large.solve(), small.solve()):
        assert result.promises.monotone
        assert (np.diff(result.history.objective) <= 1e-12 * result.history.objective[0]).all()
    assert "AcceleratedMultiplicative is picked" in cn.factorize(V, 3, loss="is").explain()


def test_newton_steps_bring_back_what_factors_cannot():
    rng = np.random.default_rng(0)
    faces = np.maximum(rng.random((40, 6)) - 0.5, 0) @ np.maximum(rng.random((6, 120)) - 0.4, 0)
    problem = cn.factorize(faces + 0.02 * rng.random(faces.shape), 8, loss="kl")
    start = problem.start(None, np.random.default_rng(1))
    for X in start.values():
        X[0.5 * X.max() > X] = 0.0
    stop = cn.MaxIter(400) | cn.RelDecrease(1e-6)
    stuck = problem.solve(cn.AcceleratedMultiplicative(), init=start, stop=stop)
    ended = problem.solve(init=start, stop=stop)
    assert ended.objective < 0.98 * stuck.objective


def test_sparse_counts_go_to_newton_steps():
    stored = cn.factorize(sp.csr_array(np.round(V)), 3, loss="kl")
    assert "CyclicNewton is picked" in stored.explain()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_products_at_stored_entries_are_those_of_the_whole_product(kind):
    left, right = RNG.random((7, 3)).astype(kind), RNG.random((3, 9)).astype(kind)
    rows, columns = np.nonzero(RNG.random((7, 9)) < 0.4)
    found = stored_products(rows, columns, left, right.T)
    assert found.dtype == kind
    np.testing.assert_allclose(found, (left @ right)[rows, columns], rtol=1e-5)
