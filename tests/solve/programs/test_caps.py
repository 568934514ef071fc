"""Variables that CVXPY adds for magnitudes under a bound are left out, and the answers stay."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.solve.programs.standard_form import StandardForm
from conicnmf.solve.programs.whole import WholeProgram

RULES = {
    "differences": lambda X: [cp.abs(cp.diff(X, axis=1)) <= 0.3, cp.sum(X, axis=1) == 2],
    "largest": lambda X: [cp.max(X, axis=0) <= 0.7, cp.norm1(X) <= 3],
    "paid for": lambda X: [cp.abs(X - 0.2) <= 0.5, cp.norm(X, 2, axis=1) <= 0.9],
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_program_of_squares_and_terms_equals_cvxpy(name: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    Y, A = 2 * rng.random((9, 6)), rng.random((9, 3))
    M = rng.random(Y.shape) if weighted else np.ones(Y.shape)
    loss = cn.WeightedFrobenius(M) if weighted else cn.Frobenius()
    terms = [cn.NonNegative(), cn.Convex(RULES[name])]
    block, held = fitted_block("B", Y, A, loss, terms)
    B, value, records = WholeProgram(block).minimize(held, np.ones((3, 6)))
    X = cp.Variable((3, 6), nonneg=True)
    stated = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(M, Y - A @ X))), RULES[name](X))
    assert value == pytest.approx(stated.solve(cp.CLARABEL), rel=1e-6)
    assert records[-1].ok
    assert block.violation(B) <= 1e-6


def test_a_program_that_is_solved_again_with_new_squares_equals_cvxpy_each_time() -> None:
    rng = np.random.default_rng(8)
    Y, M = 2 * rng.random((9, 6)), rng.random((9, 6))
    terms = [cn.NonNegative(), cn.Convex(RULES["differences"])]
    block, _ = fitted_block("B", Y, rng.random((9, 3)), cn.WeightedFrobenius(M), terms)
    program = WholeProgram(block)
    for _ in range(4):
        A, X = rng.random((9, 3)), cp.Variable((3, 6), nonneg=True)
        held = fitted_block("B", Y, A, cn.WeightedFrobenius(M), terms)[1].on(block)
        value = program.minimize(held, np.ones((3, 6)))[1]
        loss = cp.sum_squares(cp.multiply(M, Y - A @ X))
        best = cp.Problem(cp.Minimize(loss), RULES["differences"](X)).solve(cp.CLARABEL)
        assert value == pytest.approx(best, rel=1e-6)


def test_magnitudes_under_a_bound_add_no_variables() -> None:
    X = cp.Variable((2, 5))
    free = StandardForm.of(0, [cp.abs(X) <= 1], X)
    assert free.q.size == X.size
    assert free.A.shape[0] == 2 * X.size
    paid = StandardForm.of(cp.norm1(X), [cp.abs(X) <= 1], X)
    assert paid.q.size == 2 * X.size  # what costs something is no cap


def test_a_feasible_start_stays_where_it_is() -> None:
    V = np.random.default_rng(0).random((6, 5))
    rule = cn.Convex(lambda W: cp.sum(W, axis=0) == 1)
    problem = cn.factorize(V, 2, W=[cn.NonNegative(), rule])
    W, H = np.full((6, 2), 1 / 6), np.ones((2, 5))
    begun = problem.solve(cn.Splitting(), init=(W, H), stop=0, throw=False)
    np.testing.assert_array_equal(begun.W, W)
