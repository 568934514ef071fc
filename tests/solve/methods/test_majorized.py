"""Solvers work on majorizers of a loss that lacks the forms they need, and keep their promises."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(4)
V = RNG.random((14, 3)) @ RNG.random((3, 11)) + 0.05 * RNG.random((14, 11))
MASK = RNG.random(V.shape) < 0.7
PLUS = cn.NonNegative()

SOLVERS = [
    cn.HALS(),
    cn.ANLS(),
    cn.TangentPlane(),
    cn.TangentPlane(engine="conic"),
    cn.SparsityMaximization(),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_masks_are_filled_in_and_the_loss_never_rises(solver):
    problem = cn.factorize(V, 3, loss=cn.WeightedFrobenius(MASK))
    result = problem.solve(solver, stop=60)
    trace = result.history.objective
    assert (np.diff(trace) <= 1e-9 * trace[0]).all()
    assert result.objective < 0.1 * trace[0]
    assert result.objective == pytest.approx(
        np.sum((MASK * (V - result.W @ result.H)) ** 2), rel=1e-9
    )


@pytest.mark.parametrize("solver", [cn.TangentPlane(), cn.HALS()], ids=str)
def test_masks_with_a_band_are_feasible_and_never_rise(solver):
    problem = cn.factorize(V, 3, loss=cn.WeightedFrobenius(MASK), W=[PLUS, cn.Sparseness(min=0.5)])
    result = problem.solve(solver, stop=40)
    assert result.max_violation < 1e-6
    trace = result.history.objective
    assert (np.diff(trace) <= 1e-9 * trace[0]).all()


def test_hidden_entries_have_no_say():
    spoiled = np.where(MASK, V, 1e3)
    clean, other = (
        cn.factorize(data, 3, loss=cn.WeightedFrobenius(MASK)).solve(
            cn.HALS(), init=(np.ones((14, 3)) + V[:, :3], np.ones((3, 11)) + V[:3]), stop=20
        )
        for data in (V, spoiled)
    )
    np.testing.assert_allclose(clean.W @ clean.H, other.W @ other.H, rtol=1e-6)


def test_explain_says_that_a_solver_works_on_majorizers():
    text = cn.factorize(V, 3, loss=cn.WeightedFrobenius(MASK)).explain()
    assert "HALS, on quadratic majorizers of the loss" in text
    assert "majorizers" not in cn.factorize(V, 3).explain()


def test_a_solver_that_knows_no_majorizers_is_refused_with_its_reason():
    with pytest.raises(cn.IncompatibleError, match="no quadratic form"):
        cn.factorize(V, 3, loss=cn.WeightedFrobenius(MASK)).solve("Coded")


def test_least_squares_of_a_factor_times_a_mask_are_those_of_the_mask():
    rng = np.random.default_rng(0)
    V, M = rng.random((6, 4)), (rng.random((6, 3)) > 0.4) * 1.0
    problem = cn.compose(cn.Approx(V, "M * W @ H"), rank=3, constants={"M": M})
    factors = {"W": rng.random((6, 3)), "H": rng.random((3, 4))}
    block = next(own for own in problem.blocks if own.name == "W")
    solver = cn.ANLS()
    made = solver.lower(block.given(factors), block.rows(factors), solver.look(block))
    W = cp.Variable((6, 3), nonneg=True)
    best = cp.Problem(cp.Minimize(cp.sum_squares(V - cp.multiply(M, W) @ factors["H"]))).solve()
    assert problem.objective(block.put(factors, made.B)) == pytest.approx(best, rel=1e-6)
    trace = problem.solve(solver, stop=30).history.objective
    assert (np.diff(trace) <= 1e-9).all()
