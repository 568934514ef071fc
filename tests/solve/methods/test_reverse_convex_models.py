"""Reverse-convex constraints under solvers: feasible, improved, and as good as the best of a grid."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = np.random.default_rng(0).random((8, 7))
W = cp.Variable((8, 2), nonneg=True, name="W")
H = cp.Variable((2, 7), nonneg=True, name="H")
MODELS = {
    "norms": [cp.norm(W, 2, axis=0) >= 1, cp.max(W) <= 0.6],
    "squares of a column": [cp.sum_squares(W[:, 0]) >= 9],
    "peaks": [cp.max(W, axis=0) >= 1, cp.sum(W, axis=0) <= 2],
    "entropy": [-cp.sum(cp.entr(H), axis=0) >= -0.4, cp.sum(H, axis=0) == 1],
    "two norms": [cp.norm1(W[:, 0]) <= 1.5 * cp.norm2(W[:, 0])],
    "neighbors apart": [cp.abs(cp.diff(H, axis=1)) >= 0.1],
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_feasible_and_better_than_their_start(name):
    result = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), MODELS[name]).solve(stop=6)
    assert result.max_violation <= 1e-6
    assert result.objective < result.history.objective[0]


@pytest.mark.parametrize("loss", ["kl", "absolute", cn.Huber(0.5)])
def test_any_loss_and_weights(loss):
    weights = np.random.default_rng(1).random(V.shape) > 0.2
    long = cn.ReverseConvex(lambda W: cp.norm(W, 2, axis=0) >= 1.0)
    problem = cn.factorize(V, 2, loss=loss, W=["nonnegative", cn.Box(0, 0.5), long])
    masked = cn.factorize(V, 2, loss=cn.WeightedFrobenius(weights), W=["nonnegative", long])
    for stated in (problem, masked):
        result = stated.solve(stop=4)
        assert result.max_violation <= 1e-6
        assert result.objective <= result.history.objective[0]


def test_signed_factors():
    apart = cn.ReverseConvex(lambda H: cp.abs(cp.diff(H, axis=1)) >= 0.2)
    result = cn.factorize(V - 0.5, 2, W=[], H=[apart]).solve(stop=4)
    assert result.max_violation <= 1e-6
    assert (np.abs(np.diff(result.H, axis=1)) >= 0.2 - 1e-6).all()


def test_one_column_is_as_good_as_the_best_of_a_grid():
    rng = np.random.default_rng(3)
    D, y = rng.random((5, 2)), rng.random(5)
    x = cp.Variable((2, 1), nonneg=True)
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(y[:, None] - D @ x)), [cp.norm(x, 2) >= 1.5, cp.sum(x) >= 0.1]
    )
    angles = np.linspace(0, np.pi / 2, 2001)
    sizes = np.linspace(1.5, 4, 501)
    grid = np.stack(
        [np.outer(sizes, np.cos(angles)).ravel(), np.outer(sizes, np.sin(angles)).ravel()]
    )
    best = ((y[:, None] - D @ grid) ** 2).sum(axis=0).min()
    found = min(problem.solve(seed=seed).objective for seed in range(3))
    assert found <= best * (1 + 1e-6)
