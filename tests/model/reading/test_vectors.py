"""Vectors and numbers in CVXPY are variables like matrices, and come back in their own shape."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(0)
V, D, Y = RNG.random((5, 4)), RNG.random((6, 5)), RNG.random(6)
A = np.diag([1.0, 2, 3, 4, 5])


def _w():
    return cp.Variable(5, name="w", nonneg=True)


def _h():
    return cp.Variable(4, name="h", nonneg=True)


def _pair():
    return cp.Variable((5, 2), name="W", nonneg=True), cp.Variable((2, 4), name="H", nonneg=True)


def _outer():
    w, h = _w(), _h()
    return cp.Minimize(cp.sum_squares(V - cp.outer(w, h))), [], "V (5 × 4) ≈ W H, rank 1"


def _indexed():
    w, h = _w(), _h()
    target = cp.Minimize(cp.sum_squares(V - w[:, None] @ h[None, :]))
    return target, [w <= 2, cp.sum(h) == 1], "W: Box(0, 2)\n  H: NonNegative(), Simplex(total=1.0"


def _features():
    (W, H), b = _pair(), cp.Variable(5, name="b", bounds=[np.zeros(5), np.arange(5.0)])
    target = cp.Minimize(cp.sum_squares(V - W @ H - b[:, None]))
    return target, [], "V (5 × 4) ≈ W H + b 1ᵀ"


def _samples():
    (W, H), c, s = _pair(), cp.Variable(4, name="c"), cp.Variable(name="s")
    return cp.Minimize(cp.sum_squares(V - W @ H - c - s)), [], "W H + 1 c + 1 s 1ᵀ"


def _regression():
    x = cp.Variable(5, name="x")
    return cp.Minimize(cp.sum_squares(Y - D @ x) + 0.1 * cp.norm1(x)), [x >= 0], "C(6 × 5) H"


def _from_the_left():
    x, z = cp.Variable(5, name="x"), cp.Variable(6, name="z")
    target = cp.Minimize(cp.sum_squares(Y - x @ D.T - z) + cp.sum_squares(z))
    return target, [cp.norm(x) <= 0.5], "C(6 × 5) x + z"


def _gain():
    x = cp.Variable(5, name="x")
    return cp.Minimize(-(x @ A @ x)), [cp.quad_form(x, 2 * np.eye(5)) <= 1, x >= 0], "wᵀBw ≤ 1"


def _robust():
    w, h = _w(), _h()
    return cp.Minimize(cp.sum(cp.huber(V - cp.outer(w, h)))), [cn.sparseness(w) >= 0.4], "Huber"


CASES = (_outer, _indexed, _features, _samples, _regression, _from_the_left, _gain, _robust)


@pytest.mark.parametrize("case", CASES)
def test_a_vector_is_read_by_its_role_and_comes_back_as_a_vector(case):
    target, constraints, text = case()
    problem = cn.Problem(target, constraints)
    assert text in repr(problem)
    result = problem.solve(stop=40)
    for v in target.variables():
        assert result[v].shape == v.shape
    problem.assign(result)
    assert target.value == pytest.approx(result.objective, rel=1e-8)
    stated = [c for c in constraints if isinstance(c, cp.Constraint)]
    assert max([float(np.max(c.violation())) for c in stated], default=0.0) < 1e-6


@pytest.mark.parametrize("case", CASES)
def test_a_vector_starts_where_it_is_told(case):
    target, constraints, _ = case()
    problem = cn.Problem(target, constraints)
    rng = np.random.default_rng(1)
    begin = problem.solve(init={v: rng.random(v.shape) for v in target.variables()}, stop=0)
    inside = {v: begin[v] for v in target.variables()}
    again = problem.solve(init=inside, stop=0)
    for v, value in inside.items():
        np.testing.assert_allclose(again[v], value, rtol=1e-6, atol=1e-9)


def test_a_regression_ends_at_cvxpys_minimum():
    target, constraints, _ = _regression()
    found = cn.Problem(target, constraints).solve(stop=3000).objective
    assert found == pytest.approx(cp.Problem(target, constraints).solve(cp.CLARABEL), rel=1e-6)


def test_columns_and_vectors_state_the_same_problem():
    w, h = cp.Variable((5, 1), nonneg=True), cp.Variable((1, 4), nonneg=True)
    matrices = cn.Problem(cp.Minimize(cp.sum_squares(V - w @ h))).solve(seed=3)
    vectors = cn.Problem(_outer()[0]).solve(seed=3)
    assert vectors.objective == matrices.objective
    assert np.array_equal(vectors.W, matrices.W)


def test_a_reversed_vector_is_not_taken_for_the_vector():
    w, h = _w(), _h()
    target = cp.Minimize(cp.sum_squares(V - w[::-1][:, None] @ h[None, :]))
    problem = cn.Problem(target)
    problem.assign(result := problem.solve(stop=10))
    assert target.value == pytest.approx(result.objective, rel=1e-8)


def test_a_start_of_another_shape_is_refused():
    w, h = _w(), _h()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - cp.outer(w, h))))
    with pytest.raises(cn.InputError, match=r"start w must have shape \(5,\), got \(4,\)"):
        problem.solve(init={w: np.ones(4)})


def test_names_of_the_user_are_keys_of_starts_and_results():
    A, B = cp.Variable((5, 2), nonneg=True, name="A"), cp.Variable((4, 2), nonneg=True, name="B")
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - A @ B.T)))
    given = {"A": RNG.random((5, 2)), "B": RNG.random((4, 2))}
    result = problem.solve(init=given, stop=0)
    for name, own in (("A", A), ("B", B)):
        assert name in result
        np.testing.assert_array_equal(result[name], given[name])
        np.testing.assert_array_equal(result[own], given[name])
    np.testing.assert_array_equal(result.H, given["B"].T)
    with pytest.raises(cn.InputError, match=r"got C; its variables are W \(A\), H \(B\)"):
        problem.solve(init={"C": given["A"]})
