"""Problems with one factor stated in CVXPY: what is read, and that both ways give the same."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import ProjectiveNMF, QuadraticProjection

RNG = np.random.default_rng(0)
M = 7
X = RNG.standard_normal((M, M))
A = X @ X.T
C = RNG.standard_normal((3, M))
V = RNG.random((M, 20))


def variable(columns=2):
    return cp.Variable((M, columns), nonneg=True, name="W")


GAINS = {
    "trace": (lambda W: cp.trace(W.T @ A @ W), 2 * A),
    "half of it": (lambda W: cp.trace(W.T @ A @ W) / 2, A),
    "entries": (lambda W: cp.sum(cp.multiply(W, A @ W)), 2 * A),
    "squares": (lambda W: cp.sum_squares(C @ W), 2 * C.T @ C),
    "norm squared": (lambda W: 3 * cp.norm(C @ W, "fro") ** 2, 6 * C.T @ C),
}


@pytest.mark.parametrize("name", GAINS)
def test_a_gain_is_read_in_every_spelling(name):
    write, matrix = GAINS[name]
    W = variable()
    stated = write(W)
    problem = cn.Problem(cp.Maximize(stated), [np.eye(2) == W.T @ W])
    block = problem.blocks[0]
    assert [type(c).__name__ for c in block.constraints] == ["NonNegative", "Orthonormal"]
    (gain,) = block.penalties
    np.testing.assert_allclose(gain.fixed.matrix(), matrix, atol=1e-12)
    W.value = RNG.random((M, 2))
    assert problem.objective({"W": W.value}) == pytest.approx(-float(stated.value))


def test_both_doors_give_the_same_answer():
    W = variable()
    stated = cn.Problem(cp.Maximize(cp.trace(W.T @ A @ W) / 2), [np.eye(2) == W.T @ W])
    ours, theirs = stated.solve(seed=1), QuadraticProjection(A, 2).solve(seed=1)
    np.testing.assert_array_equal(ours.W, theirs.W)
    assert ours.max_violation <= 1e-6


def test_a_norm_of_its_own_is_read():
    w = variable(1)
    B = np.diag(1 + RNG.random(M))
    for write in (lambda: cp.quad_form(w, B) == 1, lambda: w.T @ B @ w == 1):
        problem = cn.Problem(cp.Maximize(cp.quad_form(w, A) / 2), [write()])
        result = problem.solve()
        assert float(result.W[:, 0] @ B @ result.W[:, 0]) == pytest.approx(1.0)
        wanted = QuadraticProjection(A, 1, B).solve().objective
        assert result.objective == pytest.approx(wanted, rel=1e-9)


def test_a_norm_of_another_size_scales_the_gain():
    w = variable(1)
    problem = cn.Problem(cp.Maximize(cp.quad_form(w, A) / 2), [2 * cp.sum_squares(w) == 8])
    wanted = 4 * QuadraticProjection(A, 1, np.eye(M)).solve().objective
    assert problem.solve().objective == pytest.approx(wanted, rel=1e-9)


def test_a_self_fit_is_read():
    W = variable()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ W.T @ V)))
    ours, theirs = problem.solve(seed=2), ProjectiveNMF(V, 2).solve(seed=2)
    np.testing.assert_array_equal(ours.W, theirs.W)
    assert ours.relative_error == pytest.approx(ours.objective / np.sum(V**2))


def test_sparseness_and_users_constraints_join_a_gain():
    w = variable(1)
    stated = [cp.sum_squares(w) == 1, cn.sparseness(w, axis=0) >= 0.6, w[0] <= 0.1]
    result = cn.Problem(cp.Maximize(cp.quad_form(w, A)), stated).solve()
    assert cn.sparseness(result.W, axis=0)[0] >= 0.6 - 1e-6
    assert result.W[0, 0] <= 0.1 + 1e-6
    assert np.linalg.norm(result.W) == pytest.approx(1.0, abs=1e-6)


def test_a_symmetric_factorization_is_refused_by_name():
    W = variable()
    with pytest.raises(cn.ModelError, match=r"W @ W\.T"):
        cn.Problem(cp.Minimize(cp.sum_squares(A - W @ W.T)))


def test_a_convex_problem_in_one_variable_is_solved():
    D = RNG.random((9, 3))
    Y = RNG.random((9, 6))
    H = cp.Variable((3, 6), nonneg=True)
    result = cn.Problem(cp.Minimize(cp.sum_squares(Y - D @ H))).solve(stop=cn.RelDecrease(1e-12))
    wanted = cp.Problem(cp.Minimize(cp.sum_squares(Y - D @ H))).solve(solver="CLARABEL")
    assert result.objective == pytest.approx(wanted, rel=1e-6)
    assert result.certificate()
