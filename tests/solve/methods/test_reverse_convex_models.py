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


@pytest.mark.parametrize("name", ["norms", "peaks", "entropy", "neighbors apart"])
def test_sparsity_maximization_takes_them_and_never_rises(name):
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), MODELS[name])
    result = problem.solve(cn.SparsityMaximization(), stop=4)
    assert result.max_violation <= 1e-6
    assert (np.diff(result.history.objective) <= 1e-9).all()
    assert result.objective < result.history.objective[0]


def test_concave_penalties_under_three_solvers():
    price = 0.2 * cp.sum(cp.log(0.1 + H))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + price), [W <= 1])
    planes = problem.solve(cn.TangentPlane())
    sharp = problem.solve(cn.SparsityMaximization())
    assert (np.diff(sharp.history.objective) <= 1e-9).all()
    assert sharp.objective == pytest.approx(planes.objective, rel=0.05)
    joint = problem.solve(cn.JointNLP(), init=planes.factors)
    assert joint.objective <= planes.objective + 1e-3
    kinks = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), MODELS["norms"])
    with pytest.raises(cn.IncompatibleError, match="write squares in place of norms"):
        kinks.solve(cn.JointNLP())


def test_squares_from_below_in_a_non_linear_program():
    stated = [cp.sum_squares(W[:, 0]) >= 6, H <= 0.5]
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), stated)
    joint, planes = (problem.solve(solver) for solver in (cn.JointNLP(), cn.TangentPlane()))
    assert joint.max_violation <= 1e-6
    assert joint.objective == pytest.approx(planes.objective, rel=0.02)


def test_where_nothing_is_feasible_the_least_violation_is_reported():
    stated = [cp.norm(W, 2, axis=0) >= 5, cp.norm(W, 1, axis=0) <= 4]
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), stated)
    result = problem.solve(throw=False, stop=2)
    assert result.status.name == "INFEASIBLE"
    # No vector is longer than the sum of its magnitudes.
    assert result.max_violation == pytest.approx(1.0, abs=1e-3)


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
