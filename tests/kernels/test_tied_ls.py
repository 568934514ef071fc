"""Least squares of columns tied to their neighbors end where CVXPY does, for any spread of sizes."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.kernels.tied_ls import tied_ls

BOUNDS = {"free": (-np.inf, np.inf), "non-negative": (0.0, np.inf), "box": (-0.1, 0.2)}


def drawn(rng, spread=0.0, rank=3, n=9, seen=4):
    """Draw a block; `spread` is by how many powers of ten columns may differ in weight."""
    weights = 10 ** rng.uniform(-spread, spread, n)
    A = np.sqrt(weights)[:, None, None] * rng.standard_normal((n, seen, rank))
    Y = np.sqrt(weights)[:, None] * rng.standard_normal((n, seen))
    return A, Y, A.transpose(0, 2, 1) @ A, np.einsum("kij,ki->jk", A, Y)


def excess(G, C, penalty, X, lower, upper):
    """Return how far single entries are from where the slope would send them."""
    slope = np.einsum("kij,jk->ik", G, X) - C + penalty.gradient(X)
    bend = np.einsum("kii->ik", G) + penalty.ties(C.shape[1])[0]
    return np.abs(np.clip(X - slope / bend, lower, upper) - X).max() / np.abs(X).max()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS.values(), ids=BOUNDS)
def test_it_ends_where_cvxpy_does(order, lower, upper):
    A, Y, G, C = drawn(np.random.default_rng(order))
    penalty = cn.Smooth(0.3, order=order)
    X = tied_ls(G, C, penalty.ties(9), np.full(C.shape, 0.1), lower, upper)
    B = cp.Variable(C.shape)
    squares = sum(cp.sum_squares(Y[k] - A[k] @ B[:, k]) for k in range(9)) / 2
    kept = [
        side for side, bound in ((lower <= B, lower), (upper >= B, upper)) if np.isfinite(bound)
    ]
    cp.Problem(cp.Minimize(squares + penalty.expression(B)), kept).solve(solver="CLARABEL")
    np.testing.assert_allclose(X, B.value, atol=1e-6)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("seed", range(5))
def test_columns_may_differ_in_weight_by_twelve_powers_of_ten(seed, lower, upper):
    _, _, G, C = drawn(np.random.default_rng(seed), spread=6.0)
    penalty = cn.Smooth(0.3)
    X = tied_ls(G, C, penalty.ties(9), np.full(C.shape, 0.1), lower, upper)
    assert excess(G, C, penalty, X, lower, upper) < 1e-9


def test_columns_without_data_lie_between_their_neighbors():
    G, C = np.zeros((5, 1, 1)), np.zeros((1, 5))
    G[[0, 4]], C[0, 4] = 1.0, 4.0
    X = tied_ls(G, C, 1e-9 * cn.Smooth(1.0).ties(5), np.zeros((1, 5)), 0.0, np.inf)
    np.testing.assert_allclose(X, [[0, 1, 2, 3, 4]], atol=1e-6)


def test_nothing_to_minimize_stays_where_it_is():
    ties = cn.Smooth(1.0).ties(4)
    B = np.full((2, 4), 0.5)
    np.testing.assert_allclose(tied_ls(np.zeros((2, 2)), 0 * B, ties, B, 0.0, np.inf), B)
