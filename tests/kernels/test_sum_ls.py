"""Least squares of a whole factor with a sum are those of a cone solver, dependent atoms included."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.kernels.sum_ls import sum_ls_gram

ATOMS = {
    "in general": lambda A: A,
    "one of them zero": lambda A: A * np.r_[0.0, np.ones(A.shape[1] - 1)],
    "one twice another": lambda A: np.c_[A[:, :1], 2 * A[:, :1], A[:, 2:]],
    "all the same": lambda A: np.repeat(A[:, :1], A.shape[1], axis=1),
}


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("total", [0.0, 0.3, 5.0, 100.0])
@pytest.mark.parametrize("atoms", ATOMS)
def test_the_minimizer_is_that_of_a_cone_solver(atoms: str, total: float, equal: bool) -> None:
    rng = np.random.default_rng(4)
    A, Y = ATOMS[atoms](rng.random((8, 4))), rng.standard_normal((8, 7)) + 0.5
    before = rng.random((4, 7))
    given = before.copy()
    B = sum_ls_gram(A.T @ A, A.T @ Y, total, equal, given)
    X = cp.Variable(B.shape, nonneg=True)
    rule = cp.sum(X) == total if equal else cp.sum(X) <= total
    best = cp.Problem(cp.Minimize(cp.sum_squares(Y - A @ X)), [rule]).solve(cp.CLARABEL)
    assert np.sum((Y - A @ B) ** 2) <= best * (1 + 1e-7)
    assert B.min() >= 0
    assert B.sum() <= total * (1 + 1e-12)
    assert not equal or B.sum() == pytest.approx(total, rel=1e-12)
    np.testing.assert_array_equal(given, before)


def test_many_atoms_and_any_guess_lead_to_one_point() -> None:
    rng = np.random.default_rng(5)
    A, Y = rng.random((90, 70)), rng.random((90, 5))
    guesses = (np.zeros((70, 5)), rng.random((70, 5)), np.full((70, 5), 1e3))
    found = [sum_ls_gram(A.T @ A, A.T @ Y, 2.0, True, guess) for guess in guesses]
    for B in found[1:]:
        np.testing.assert_allclose(B, found[0], atol=1e-9)


def test_single_precision_stays() -> None:
    C = np.array([[3.0, 1.0]], dtype=np.float32)
    B = sum_ls_gram(np.eye(1, dtype=np.float32), C, 2.0, False, np.ones_like(C))
    assert B.dtype == np.float32
    np.testing.assert_allclose(B, [[2.0, 0.0]])


@pytest.mark.parametrize("equal", [False, True])
def test_a_factor_with_a_sum_is_solved_by_exact_blocks_and_certified(equal: bool) -> None:
    V = np.random.default_rng(6).random((12, 15))
    terms = [cn.NonNegative(), cn.FactorSum(3.0, equal)]
    problem = cn.factorize(V, 3, W=terms, H=[cn.NonNegative(), cn.L2(0.1)])
    result = problem.solve(stop=cn.RelDecrease(1e-10) | 3000)
    assert result.solver.startswith("ANLS")
    assert np.all(np.diff(result.history.objective) <= 1e-12 * result.history.objective[0])
    assert result.certificate().ok
