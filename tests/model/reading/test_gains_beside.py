"""Quadratics tr(WᵀAW) on one of several variables: read, served where W is bounded, or refused."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(0)
V = RNG.random((8, 10))
SQUARE = RNG.standard_normal((8, 8))
PSD, ANY = SQUARE @ SQUARE.T, SQUARE + SQUARE.T
PATH = np.diag(np.full(10, 2.0)) - np.eye(10, k=1) - np.eye(10, k=-1)


def _pair():
    return cp.Variable((8, 2), nonneg=True, name="W"), cp.Variable((2, 10), nonneg=True, name="H")


CASES = {
    "convex": (lambda W, H: cp.trace(W.T @ PSD @ W), lambda W, H: [], "GraphLaplacian"),
    "convex, rows": (lambda W, H: cp.trace(H @ PATH @ H.T), lambda W, H: [], "10 nodes"),
    "convex, samples": (
        lambda W, H: cp.trace(H.T @ np.array([[2.0, 1], [1, 2]]) @ H),
        lambda W, H: [],
        "each='sample'",
    ),
    "in a ball": (
        lambda W, H: -0.1 * cp.trace(W.T @ PSD @ W),
        lambda W, H: [cp.norm(W, 2, axis=0) <= 1],
        "NormBall(radius=1.0, each='component'), Gain(A 8 × 8)",
    ),
    "concave squares": (
        lambda W, H: -0.1 * cp.sum_squares(H),
        lambda W, H: [H <= 1],
        "Box(0, 1), Gain(A 10 × 10)",
    ),
    "neither sign": (
        lambda W, H: -0.1 * cp.trace(W.T @ ANY @ W),
        lambda W, H: [W <= 1, cp.diff(W, axis=0) <= 0.3],
        "Gain(A 8 × 8)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_quadratic_beside_a_fit_is_read_and_lowered(name):
    write, bounds, text = CASES[name]
    W, H = _pair()
    target = cp.Minimize(cp.sum_squares(V - W @ H) + write(W, H))
    problem = cn.Problem(target, bounds(W, H))
    assert text in repr(problem)
    result = problem.solve(stop=15)
    history = result.history.objective
    assert history[-1] < history[0]
    assert result.max_violation < 1e-6
    problem.assign(result)
    assert target.value == pytest.approx(result.objective, rel=1e-9)
    for solver in ("ProjectedGradient", "TangentPlane"):
        if solver == "ProjectedGradient" and name == "neither sign":
            continue  # no projection on what a user wrote
        course = problem.solve(solver, stop=15).history.objective
        assert course[-1] < course[0]


def test_a_gain_ends_where_its_linearization_does():
    """At the end no feasible step along the linearized objective lowers it: a second route."""
    write, bounds, _ = CASES["in a ball"]
    W, H = _pair()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + write(W, H)), bounds(W, H))
    result = problem.solve("TangentPlane", stop=300)
    slope = 2 * (result[W] @ result[H] - V) @ result[H].T - 0.2 * PSD @ result[W]
    X = cp.Variable((8, 2), nonneg=True)
    best = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(slope, X))), [cp.norm(X, 2, axis=0) <= 1]
    ).solve(cp.CLARABEL)
    assert np.sum(slope * result[W]) - best < 1e-2 * abs(best)


def test_a_gain_that_nothing_bounds_is_refused_with_the_reason():
    W, H = _pair()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) - cp.trace(W.T @ PSD @ W)))
    with pytest.raises(cn.IncompatibleError, match="nothing bounds Gain"):
        problem.solve()
    assert "nothing bounds Gain" in "\n".join(cn.TangentPlane().mismatches(problem))


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda W, H: cp.trace(H.T @ np.array([[0.0, 1], [1, 0]]) @ H), "it mixes components"),
        (lambda W, H: cp.sum_squares(V - W @ W.T @ V), "supported only if W is the only one"),
    ],
)
def test_what_has_no_method_is_refused_with_the_right_door(write, says):
    W, H = _pair()
    with pytest.raises(cn.ModelError, match=says):
        cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + write(W, H)))
