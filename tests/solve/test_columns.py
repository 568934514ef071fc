"""Blocks solved exactly column by column: masks, sums per sample, free factors."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.model import subproblem

RNG = np.random.default_rng(11)
V = RNG.random((9, 14))
MASK = RNG.random(V.shape) < 0.7
WEIGHTS = MASK * RNG.uniform(0.2, 2, V.shape)
PLUS = cn.NonNegative()
SUMS = cn.Simplex(2.0, each="sample")

MODELS = {
    "plain": {},
    "mask": {"loss": cn.WeightedFrobenius(MASK)},
    "weights": {"loss": cn.WeightedFrobenius(WEIGHTS, scale=0.5), "H": [PLUS, cn.L1(0.3)]},
    "sparse mask": {"loss": cn.WeightedFrobenius(sp.csr_array(WEIGHTS)), "H": [PLUS, cn.L2(0.1)]},
    "sums": {"H": [SUMS]},
    "sums, stated twice": {"H": [PLUS, SUMS]},
    "masked sums": {"loss": cn.WeightedFrobenius(MASK), "H": [SUMS], "W": [PLUS, cn.L2(0.2)]},
    "free": {"H": [], "W": [PLUS]},
    "masked, free": {"loss": cn.WeightedFrobenius(MASK), "H": [], "W": []},
    "masked offset": {"loss": cn.WeightedFrobenius(MASK), "offset": "feature"},
}


@pytest.mark.parametrize("name", list(MODELS))
def test_each_block_is_the_minimum_that_a_cone_solver_finds(name):
    problem = cn.factorize(V, 3, **MODELS[name])
    factors = problem.start(None, np.random.default_rng(2))
    for block in problem.blocks:
        held = block.given(factors)
        B, value = cn.ANLS().minimize(held, block.rows(factors))
        assert value == pytest.approx(held.objective(B), rel=1e-9)
        assert block.violation(B) < 1e-9
        X = cp.Variable(block.shape)
        limits = [c for term in block.constraints for c in term.cone(X)]
        penalty = sum(p.expression(X) for p in block.penalties)
        best = cp.Problem(cp.Minimize(held.expression(X) + penalty), limits)
        best.solve(solver="CLARABEL")
        assert value == pytest.approx(best.value, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("name", list(MODELS))
def test_the_objective_never_rises(name, extrapolate):
    result = cn.factorize(V, 3, **MODELS[name]).solve(cn.ANLS(extrapolate), stop=40)
    values = result.history.objective
    assert (np.diff(values) <= 1e-10 * values[0]).all()
    assert values[-1] < values[0]


def test_few_columns_at_a_time_give_the_same(monkeypatch):
    problem = cn.factorize(V, 3, **MODELS["masked sums"])
    whole = problem.solve(cn.ANLS(), stop=5)
    monkeypatch.setattr(subproblem, "_GRAM_ENTRIES", 30)
    parts = problem.solve(cn.ANLS(), stop=5)
    np.testing.assert_allclose(parts.W, whole.W, rtol=1e-9)


def test_views_with_and_without_a_mask_add_up():
    views = {"a": V, "b": RNG.random((5, 14))}
    losses = {"a": cn.WeightedFrobenius(MASK), "b": cn.Frobenius()}
    problem = cn.factorize(views, 3, loss=losses)
    assert not cn.ANLS().mismatches(problem)
    result = problem.solve(cn.ANLS(), stop=60)
    assert result.certificate(stationarity=1e-2).ok


@pytest.mark.parametrize("name", ["sums", "masked sums"])
def test_it_is_picked_where_columns_have_a_loss_or_a_sum_of_their_own(name):
    problem = cn.factorize(V, 3, **MODELS[name])
    assert "ANLS is picked: each sample is solved exactly" in problem.explain()


@pytest.mark.parametrize(("hidden", "picked"), [(2, "HALS → ANLS"), (6, "ANLS")])
def test_what_hides_most_entries_gives_columns_systems_of_their_own(hidden, picked):
    mask = np.arange(V.size).reshape(V.shape) % 10 >= hidden
    problem = cn.factorize(V, 3, loss=cn.WeightedFrobenius(mask))
    assert f"By default {picked} is picked" in problem.explain()


def test_what_ties_samples_together_is_refused_with_the_reason():
    problem = cn.factorize(V, 3, H=[cn.Simplex()])
    with pytest.raises(cn.IncompatibleError, match="on H links samples"):
        problem.solve(cn.ANLS())
    problem = cn.factorize(V, 3, H=[PLUS, cn.Box(0, 1)])
    with pytest.raises(cn.IncompatibleError, match="no exact least squares are known for"):
        problem.solve(cn.ANLS())


def test_a_component_that_died_is_given_work():
    problem = cn.factorize(V, 3, W=[PLUS], H=[])
    W = RNG.random((9, 3))
    W[:, 1] = 0.0
    result = problem.solve(cn.ANLS(), init=(W, np.zeros((3, 14))), stop=50)
    best = min(problem.solve(cn.HALS(), seed=seed).objective for seed in range(5))
    assert result.W.any(axis=0).all()
    assert result.objective < 1.1 * best
