"""A model with parameters is the model with their values as numbers, at the time it is looked at."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.study import path

RNG = np.random.default_rng(3)
V, MASK = RNG.random((7, 9)), (RNG.random((7, 9)) > 0.2).astype(float)


def stated(price, level, most, mask):
    W, H = cp.Variable((7, 2), nonneg=True, name="W"), cp.Variable((2, 9), nonneg=True, name="H")
    loss = cp.sum_squares(cp.multiply(mask, V - W @ H))
    return cn.Problem(
        cp.Minimize(loss + price * cp.norm1(H)), [cn.sparseness(W, axis=0) >= level, most >= W]
    )


def with_parameters():
    own = (
        cp.Parameter(nonneg=True, name="price"),
        cp.Parameter(2, name="level"),
        cp.Parameter(name="most"),
        cp.Parameter((7, 9), nonneg=True, name="mask"),
    )
    return stated(*own), own


@pytest.mark.parametrize(
    "numbers", [(0.1, [0.3, 0.6], 2.0, MASK), (0.3, [0.5, 0.0], 1.5, 1 - MASK)]
)
def test_it_is_the_problem_with_numbers(numbers):
    problem, own = with_parameters()
    for parameter, number in zip(own, numbers, strict=True):
        parameter.value = number
    plain = stated(numbers[0], np.array(numbers[1]), numbers[2], numbers[3])
    assert problem.digest == plain.digest
    ours, theirs = problem.solve(seed=1), plain.solve(seed=1)
    assert ours.objective == theirs.objective
    sent = pickle.loads(pickle.dumps(problem))
    assert sent.digest == plain.digest


def test_a_result_belongs_to_the_values_it_was_found_with():
    problem, own = with_parameters()
    for parameter, number in zip(own, (0.1, [0.3, 0.6], 2.0, MASK), strict=True):
        parameter.value = number
    before, result = problem.digest, problem.solve(cn.TangentPlane(), seed=0, stop=cn.MaxIter(3))
    own[0].value = 0.7
    assert problem.digest != before
    assert result.problem.digest == before
    assert result.problem.objective(result.factors) == pytest.approx(result.objective)
    again = problem.solve(cn.TangentPlane(), init=result.factors, stop=cn.MaxIter(3))
    assert again.objective > result.objective
    problem.assign(again)


def test_a_parameter_without_a_value_is_named_when_it_is_needed():
    problem, own = with_parameters()
    assert "no value yet" in repr(problem)
    with pytest.raises(cn.InputError, match=r"got none for .*; set .*\.value"):
        problem.solve()
    for parameter in own[:3]:
        parameter.value = np.full(parameter.shape, 0.5)
    with pytest.raises(cn.InputError, match="got none for mask"):
        cn.solve(problem)


def test_a_path_goes_through_values_and_puts_them_back():
    price = cp.Parameter(nonneg=True, name="price", value=5.0)
    level = cp.Parameter(name="level", value=0.1)
    problem = stated(price, level, 2.0, MASK)
    found = path(problem, {price: [0.1, 0.2], level: [0.3, 0.5]}, cn.TangentPlane(), seed=0)
    assert (price.value, level.value) == (5.0, 0.1)
    assert list(found.table["level"]) == [0.3, 0.5]

    def made(value):
        return stated(value, {0.1: 0.3, 0.2: 0.5}[value], 2.0, MASK)

    wanted = path(made, [0.1, 0.2], cn.TangentPlane(), seed=0)
    np.testing.assert_array_equal(found.table["objective"], wanted.table["objective"])
    for call in (lambda: path(problem, [0.1]), lambda: path(made, {price: [0.1]})):
        with pytest.raises(cn.InputError, match=r"path\(problem, \{alpha"):
            call()
    with pytest.raises(cn.InputError, match="as many values"):
        path(problem, {price: [0.1], level: [0.1, 0.2]})
