"""Objectives with a domain of their own: starts are brought inside, and no step leaves it."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from benchmarks import rivals
from conicnmf.solve.programs.domain import kept_finite


def _divergence(seed=0):
    rng = np.random.default_rng(seed)
    V = rng.poisson(2.0, (6, 5)).astype(float)
    W, H = cp.Variable((6, 2), nonneg=True, name="W"), cp.Variable((2, 5), nonneg=True, name="H")
    return cn.Problem(cp.Minimize(cp.sum(cp.kl_div(V, W @ H)))), W, H


def test_no_step_ends_where_a_divergence_is_infinite():
    model = rivals.hidden_states(60)
    start = {v: np.array(v.value) for v in (model.x, model.y)}
    problem = rivals._stated(model)
    history = problem.solve(init=start, stop=8).history.objective
    assert np.isfinite(history).all()
    assert history[-1] < 0.4 * history[0]


@pytest.mark.parametrize("solver", [cn.TangentPlane(), cn.SparsityMaximization()], ids=str)
def test_a_start_outside_of_the_domain_is_brought_inside(solver):
    problem, W, H = _divergence()
    outside = {W: np.zeros((6, 2)), H: np.ones((2, 5))}
    result = problem.solve(solver, init=outside, stop=30)
    other = problem.solve(solver, seed=1, stop=30)
    assert np.isfinite(result.history.objective).all()
    assert result.objective < 1.5 * other.objective


def test_a_free_variable_under_a_logarithm_starts_positive():
    rng = np.random.default_rng(0)
    V = rng.random((5, 6)) + 0.5
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 6))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) - 0.1 * cp.sum(cp.log(H))))
    result = problem.solve(init={W: np.ones((5, 2)), H: -np.ones((2, 6))}, stop=20)
    assert np.isfinite(result.history.objective).all()
    assert result[H].min() > 0


def test_a_point_a_little_inside_is_the_best_that_is_finite():
    def value(X):
        return float(-np.log(X).sum() + 100 * X.sum()) if (X > 0).all() else np.inf

    B, new = np.ones((1, 3)), np.zeros((1, 3))
    found, reached = kept_finite(value, B, new)
    assert reached == value(found) < value(B)
    assert found.max() == pytest.approx(0.01)  # the minimum along the way
    assert kept_finite(value, -B, new)[1] == np.inf  # nothing to go back to


@pytest.mark.parametrize("free", ["W", "H"])
def test_divergences_that_cvxpy_cannot_say_begin_inside_too(free):
    V = np.random.default_rng(0).random((8, 6)) + 0.1
    problem = cn.factorize(V, 2, loss="is", **{free: []})
    objectives = problem.solve(seed=0, stop=100).history.objective
    assert np.isfinite(objectives[0])
    assert objectives[-1] < 0.5 * objectives[0]
