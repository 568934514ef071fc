"""Sparse data stay sparse from the expression to the problem, and through a solve."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

ROWS, COLUMNS, STORED = 20_000, 10_000, 100_000
BUDGET = 200e6  # bytes; the dense data would take 1.6e9


def big() -> sp.csr_array:
    rng = np.random.default_rng(0)
    places = rng.integers(ROWS, size=STORED), rng.integers(COLUMNS, size=STORED)
    return sp.csr_array(sp.coo_array((rng.random(STORED) + 0.1, places), shape=(ROWS, COLUMNS)))


SPELLINGS: dict[str, Callable[[Any, Any, Any], cp.Expression]] = {
    "sum_squares": lambda V, W, H: cp.sum_squares(V - W @ H),
    "norm fro squared": lambda V, W, H: 0.5 * cp.norm(V - W @ H, "fro") ** 2,
    "square": lambda V, W, H: cp.sum(cp.square(W @ H - V)),
    "transposed": lambda V, W, H: cp.sum_squares(V.T - H.T @ W.T),
    "constant transposed": lambda V, W, H: cp.sum_squares(cp.Constant(V).T - (W @ H).T),
    "constant scaled": lambda V, W, H: cp.sum_squares(2 * cp.Constant(V) - W @ (3 * H)),
    "constant divided": lambda V, W, H: cp.sum_squares(-cp.Constant(V) / 2 + W @ H),
    "stacked": lambda V, W, H: cp.sum_squares(
        cp.vec(cp.Constant(V), order="F") - cp.vec(W @ H, order="F")
    ),
    "constant taken off": lambda V, W, H: cp.sum_squares(V - W @ H) - cp.sum_squares(V),
    "mask": lambda V, W, H: cp.sum_squares(cp.multiply(V != 0, V - W @ H)),
    "mask on both": lambda V, W, H: cp.sum_squares(
        cp.multiply(V != 0, cp.Constant(V)) - cp.multiply(V != 0, W @ H)
    ),
    "weights": lambda V, W, H: cp.sum(cp.multiply(V, cp.square(V - W @ H))),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_reading_sparse_data_never_makes_them_dense(name: str) -> None:
    V = big()
    W, H = cp.Variable((ROWS, 3), nonneg=True), cp.Variable((3, COLUMNS), nonneg=True)
    tracemalloc.start()
    try:
        problem = cn.Problem(cp.Minimize(SPELLINGS[name](V, W, H) + 0.1 * cp.sum(H)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BUDGET
    assert sp.issparse(problem.V)
    assert problem.V.nnz == V.nnz
    assert isinstance(problem.loss, cn.Frobenius | cn.WeightedFrobenius)
    assert tuple(problem.shapes.values()) == ((ROWS, 3), (3, COLUMNS))


@pytest.mark.parametrize("name", SPELLINGS)
def test_sparse_readings_equal_the_expression(name: str) -> None:
    V = sp.random_array((6, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
    stated = SPELLINGS[name](V, W, H)
    problem = cn.Problem(cp.Minimize(stated))
    assert sp.issparse(problem.V)
    rng = np.random.default_rng(1)
    W.value, H.value = rng.random(W.shape), rng.random(H.shape)
    read = problem.objective({"W": W.value, "H": H.value})
    assert read == pytest.approx(float(stated.value), rel=1e-9)


def test_a_large_sparse_problem_is_solved_in_little_memory() -> None:
    V = big()
    W, H = cp.Variable((ROWS, 3), nonneg=True), cp.Variable((3, COLUMNS), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)))
    tracemalloc.start()
    try:
        result = problem.solve(cn.HALS(), stop=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BUDGET
    assert result.objective < result.history[0].objective


def test_large_dense_data_are_compared_on_a_part_only() -> None:
    V = np.random.default_rng(0).random((600, 500))
    W, H = cp.Variable((600, 3)), cp.Variable((3, 500))
    tracemalloc.start()
    try:
        problem = cn.Problem(cp.Minimize(2 * cp.sum_squares(0.5 * (V - 2 * (W @ H)).T)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(problem.loss, cn.Frobenius)
    assert problem.loss.scale == pytest.approx(2.0)
    assert peak < 6 * V.nbytes


@pytest.mark.parametrize("kind", [sp.coo_array, sp.csc_array, sp.csr_matrix, sp.lil_array])
def test_any_sparse_format_will_do(kind: Any) -> None:
    dense = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
    W, H = cp.Variable((3, 1)), cp.Variable((1, 2))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(kind(dense) - W @ H)))
    assert sp.issparse(problem.V)
    np.testing.assert_array_equal(problem.V.toarray(), dense)
