"""Problems and results travel to workers and back by pickle, and nothing changes on the way.

Only a problem with a function that Python itself cannot pickle, such as a lambda, stays at home.
"""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

V = np.random.default_rng(0).random((8, 6))


def few(H):
    return cp.sum(H) <= 20


def stated():
    W, H = cp.Variable((8, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    rough = cp.sum(cp.huber(cp.diff(H, axis=1)))
    bounds = [cn.sparseness(W, axis=0) >= 0.5, cp.sum(H) <= 20]
    return cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * rough), bounds)


def huber():
    W, H = cp.Variable((8, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    return cn.Problem(cp.Minimize(cp.sum(cp.huber(V - W @ H))))


PROBLEMS = {
    "plain": lambda: cn.factorize(V, 2),
    "sparse": lambda: cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)]),
    "penalties": lambda: cn.factorize(V, 2, H=[cn.NonNegative(), cn.L1(0.1), cn.L2(0.1)]),
    "weights": lambda: cn.factorize(V, 2, loss=cn.WeightedFrobenius(V > 0.1)),
    "sparse data": lambda: cn.factorize(sp.csr_array(V), 2),
    "a function": lambda: cn.factorize(V, 2, H=[cn.NonNegative(), cn.Convex(few)]),
    "algebra": stated,
    "another loss": huber,
    "one factor": lambda: cn.one_factor.ProjectiveNMF(V, 2),
}


def sent(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_that_was_sent_has_the_same_answer(name):
    problem = PROBLEMS[name]()
    again = sent(problem)
    assert repr(again) == repr(problem)
    here, there = (each.solve(stop=3, seed=1) for each in (problem, again))
    assert there.objective == here.objective
    for variable, X in here.factors.items():
        np.testing.assert_array_equal(there.factors[variable], X)
    sent(problem)  # what was remembered while solving does not stand in the way


@pytest.mark.parametrize("name", ["plain", "sparse", "algebra"])
def test_a_result_that_was_sent_can_be_certified_and_solved_again(name):
    result = PROBLEMS[name]().solve(seed=1)
    again = sent(result)
    assert repr(again) == repr(result)
    for variable, X in result.factors.items():
        np.testing.assert_array_equal(again.factors[variable], X)
    assert [(check.name, check.ok) for check in again.certificate().checks] == [
        (check.name, check.ok) for check in result.certificate().checks
    ]
    assert again.problem.solve(seed=1).objective == result.objective


def test_solvers_starts_and_stop_rules_can_be_sent():
    for setting in (cn.HALS(), cn.TangentPlane(), cn.NNDSVD(), cn.MaxIter(3) | cn.RelDecrease()):
        assert repr(sent(setting)) == repr(setting)
