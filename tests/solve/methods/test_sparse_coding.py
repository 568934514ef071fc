"""Non-negative sparse coding (Hoyer 2002): the published steps, and codes of new samples."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import rises

import conicnmf as cn
from conicnmf.families.coding import Lasso

PUBLISHED = cn.ProjectedGradient(free="multiplicative")


def sparse_coding(V, rank, weight):
    return cn.factorize(
        V,
        rank,
        loss=cn.Frobenius(scale=0.5),
        W=[cn.NonNegative(), cn.UnitNorm()],
        H=[cn.NonNegative(), cn.L1(weight)],
    )


def literal(V, W, H, weight, rounds):
    """The published algorithm, its step halved until the objective does not rise."""

    def cost(W, H):
        return 0.5 * np.sum((V - W @ H) ** 2) + weight * H.sum()

    step = 1 / (2 * np.linalg.norm(H, 2) ** 2)
    for _ in range(rounds):
        slope = (W @ H - V) @ H.T
        while True:
            trial = np.maximum(W - step * slope, 0)
            trial /= np.linalg.norm(trial, axis=0)
            if cost(trial, H) <= cost(W, H):
                break
            step /= 2
        W, step = trial, 1.2 * step
        H = H * (W.T @ V) / (W.T @ W @ H + weight)
    return W, H


@pytest.fixture(scope="module")
def bars():
    return cn.datasets.bars(n_samples=200, seed=3)


@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_projected_gradient_takes_the_published_steps(bars, weight):
    rng = np.random.default_rng(0)
    W, H = rng.random((9, 10)) + 0.1, rng.random((10, 200)) + 0.1
    W /= np.linalg.norm(W, axis=0)
    V = bars.V + 0.01  # no blank image: with weight 0 the published quotient is 0/0 there
    result = sparse_coding(V, 10, weight).solve(PUBLISHED, init=(W, H), stop=30)
    expected_W, expected_H = literal(V, W, H, weight, 30)
    np.testing.assert_allclose(result.W, expected_W, atol=1e-9)
    np.testing.assert_allclose(result.H, expected_H, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.0, 0.01, 0.3, 3.0]))
def test_the_objective_never_rises_and_the_basis_keeps_unit_norm(seed, weight):
    V = np.random.default_rng(seed).random((6, 15))
    result = sparse_coding(V, 4, weight).solve(PUBLISHED, stop=40, seed=seed)
    assert rises(result) <= 1e-12
    np.testing.assert_allclose(np.linalg.norm(result.W, axis=0), 1, atol=1e-12)


def test_new_samples_reach_the_global_optimum(bars):
    W = sparse_coding(bars.V, 10, 0.1).solve(cn.HALS()).W
    V = cn.datasets.bars(n_samples=20, seed=4).V
    S = cp.Variable((10, 20), nonneg=True)
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(V - W @ S) + 0.1 * cp.sum(S)))
    program.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    H = cn.sparse_code(V, W, Lasso(2 * 0.1))
    reached = 0.5 * np.sum((V - W @ H) ** 2) + 0.1 * H.sum()
    assert reached == pytest.approx(program.value, rel=1e-9)
    assert (H >= 0).all()


def test_multiplication_approaches_the_same_value_from_above(bars):
    V, W = bars.V, bars.truth["W"]

    def cost(H):
        return 0.5 * np.sum((V - W @ H) ** 2) + 0.05 * H.sum()

    H = np.ones((10, 200))
    for _ in range(2000):
        H *= (W.T @ V) / (W.T @ W @ H + 0.05)
    exact = cost(cn.sparse_code(V, W, Lasso(2 * 0.05)))
    assert exact <= cost(H) * (1 + 1e-12)
    assert cost(H) == pytest.approx(exact, rel=1e-3)


def test_a_fixed_basis_in_the_same_problem_gives_the_same_codes(bars):
    W = bars.truth["W"][:, :5]  # independent, so that the optimum is unique
    problem = cn.factorize(
        bars.V,
        5,
        loss=cn.Frobenius(scale=0.5),
        W=[cn.Fixed(np.full(W.shape, True), W)],
        H=[cn.NonNegative(), cn.L1(0.05)],
    )
    result = problem.solve(cn.HALS(), stop=cn.MaxIter(500) | cn.RelDecrease(1e-12))
    np.testing.assert_allclose(result.H, cn.sparse_code(bars.V, W, Lasso(2 * 0.05)), atol=1e-5)
