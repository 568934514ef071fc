"""Concave penalties: their tangents lie above them, and solvers that use these go down."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.testing import check_penalty

RNG = np.random.default_rng(0)
PENALTIES = [
    cn.LogSum(0.3, eps=0.2),
    cn.CappedL1(0.2, cap=0.4),
    cn.ConcavePenalty(lambda H: 0.1 * cp.sum(cp.sqrt(H))),
    cn.ConcavePenalty(lambda H: -0.1 * cp.norm(H, "fro")),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_every_form_agrees(penalty):
    check_penalty(penalty)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_tangents_lie_above(penalty):
    for P, B in zip(RNG.random((20, 2, 5)), RNG.random((20, 2, 5)), strict=True):
        above = penalty.value(P) + np.vdot(penalty.slope(P), B - P)
        assert above >= penalty.value(B) - 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_blocks_with_them_go_down_and_end_stationary(penalty):
    V = RNG.random((8, 7))
    problem = cn.factorize(V, 2, W=[cn.Box(0, 1)], H=["nonnegative", penalty])
    result = problem.solve(stop=cn.RelDecrease(1e-6) | cn.MaxIter(60))
    assert (np.diff(result.history.objective) <= 1e-9).all()
    assert result.certificate()


@pytest.mark.parametrize("penalty", PENALTIES[:2], ids=str)
@pytest.mark.parametrize("step", [0.3, 3.0])
def test_proximal_steps_are_the_best_of_all_points(penalty, step):
    points = np.linspace(0, 2, 4001)
    prices = np.array([penalty.value(np.array([[x]])) for x in points])
    for b in np.linspace(-0.5, 1.6, 43):
        near = prices + (points - b) ** 2 / (2 * step)
        x = penalty.prox_nonneg(np.array([[b]]), step).item()
        found = penalty.value(np.array([[x]])) + (x - b) ** 2 / (2 * step)
        assert found <= near.min() + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES[:2], ids=str)
def test_sparse_coding_with_unit_norms_takes_them_exactly(penalty):
    V = RNG.random((8, 20))
    problem = cn.factorize(V, 4, W=["nonnegative", cn.UnitNorm()], H=["nonnegative", penalty])
    slow = problem.solve(cn.ProjectedGradient(), seed=0, stop=200)
    for init in (None, slow.factors):  # which end in different basins
        result = problem.solve(cn.HALS(), init=init, seed=0)
        assert (np.diff(result.history.objective) <= 1e-9).all()
        assert result.certificate(), result.certificate()
    assert result.objective <= slow.objective


def test_the_two_doors_meet():
    V, H = RNG.random((6, 5)), cp.Variable((2, 5), nonneg=True, name="H")
    W = cp.Variable((6, 2), nonneg=True, name="W")
    penalty = 0.3 * cp.sum(cp.log(1 + H / 0.2))
    stated = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + penalty), [W <= 1])
    terms = cn.factorize(V, 2, W=[cn.Box(0, 1)], H=["nonnegative", cn.LogSum(0.3, 0.2)])
    factors = {"W": RNG.random((6, 2)), "H": RNG.random((2, 5))}
    assert stated.objective(factors) == pytest.approx(terms.objective(factors))
    first, second = (problem.solve(stop=10).objective for problem in (stated, terms))
    assert first == pytest.approx(second, rel=1e-6)


def test_differences_of_norms_are_split():
    V, H = RNG.random((6, 5)), cp.Variable((2, 5), name="H")
    W = cp.Variable((6, 2), name="W")
    penalty = cp.norm1(H) - cp.norm(H, "fro")
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * penalty), [cp.norm(W, "fro") <= 1]
    )
    assert "ConcavePenalty" in str(problem.H)
    factors = {"W": RNG.random((6, 2)), "H": RNG.standard_normal((2, 5))}
    problem.assign(factors)
    wanted = np.sum((V - factors["W"] @ factors["H"]) ** 2) + 0.1 * penalty.value
    assert problem.objective(factors) == pytest.approx(wanted)


def test_what_is_not_concave_is_refused():
    with pytest.raises(cn.ModelError, match="must return a concave scalar"):
        cn.factorize(np.ones((3, 3)), 1, H=[cn.ConcavePenalty(cp.sum_squares)])


@pytest.mark.parametrize("count", [0, 2])
def test_a_function_that_returns_a_list_is_told_to_add_it_up(count):
    penalty = cn.ConcavePenalty(lambda X: [cp.sum(cp.minimum(X, 1))] * count)
    with pytest.raises(cn.ConicNMFError, match=f"got {count} of them; add them up"):
        cn.factorize(np.ones((3, 4)), 2, W=[cn.NonNegative(), penalty])
