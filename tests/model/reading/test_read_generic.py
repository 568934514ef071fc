"""Losses that are no squares are kept as written and alternate through the cone solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.addends import Coupling

V = np.random.default_rng(0).random((5, 4)) + 0.1


def kept(W: Any, H: Any) -> Any:
    return V - W @ H


LOSSES: dict[str, Callable[[Any, Any], cp.Expression]] = {
    "norm": lambda W, H: cp.norm(kept(W, H), "fro"),
    "largest singular value": lambda W, H: cp.norm(kept(W, H), 2),
    "norms of rows": lambda W, H: cp.sum(cp.norm(kept(W, H), 2, axis=1)),
    "largest error": lambda W, H: cp.max(cp.abs(kept(W, H))),
    "convex of one factor": lambda W, H: (
        cp.sum(cp.exp(W @ cp.square(H) - V)) + cp.sum_squares(W - 1) + cp.sum_squares(H - 1)
    ),
    "different columns": lambda W, H: (
        cp.norm(kept(W, H)[:, :2], "fro") + cp.max(cp.abs(kept(W, H)[:, 2:]))
    ),
    "joined with a penalty": lambda W, H: cp.sum_squares(cp.hstack([kept(W, H), 0.1 * W])),
}


def variables() -> tuple[cp.Variable, cp.Variable]:
    return cp.Variable((5, 2), nonneg=True, name="W"), cp.Variable((2, 4), nonneg=True, name="H")


@pytest.mark.parametrize("name", LOSSES)
def test_generic_losses_alternate(name: str) -> None:
    W, H = variables()
    stated = LOSSES[name](W, H) + 0.01 * cp.sum_squares(H) + 0.01 * cp.sum(W)
    problem = cn.Problem(cp.Minimize(stated))
    assert any(isinstance(addend, Coupling) for addend in problem.addends)
    np.testing.assert_allclose(problem.fits[-1].V, V)
    result = problem.solve(cn.TangentPlane(), stop=3)
    falls = -np.diff(result.history.objective)
    assert (falls > -1e-7 * result.objective).all()
    assert result.objective < result.history[0].objective
    W.value, H.value = result.W, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)
    # The last block solved is H's: CVXPY finds no better H for this W.
    fixed = stated.tree_copy({id(W): cp.Constant(result.W)})
    best = cp.Problem(cp.Minimize(fixed)).solve(solver="CLARABEL")
    assert result.objective <= best + 1e-5 * abs(best)


def test_a_constant_may_stand_before_the_product() -> None:
    P = np.random.default_rng(1).random((5, 3))
    W, H = cp.Variable((3, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    stated = cp.sum_squares(V - P @ W @ H)
    problem = cn.Problem(cp.Minimize(stated), [cn.sparseness(W, axis=0) >= 0.4])
    assert tuple(problem.shapes.values()) == ((3, 2), (2, 4))
    result = problem.solve(cn.TangentPlane(), stop=4)
    W.value, H.value = result.W, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)
    assert (cn.sparseness(result.W, axis=0) >= 0.4 - 1e-6).all()
    assert result.relative_error == pytest.approx(float(stated.value) / np.sum(V**2))


@pytest.mark.parametrize("square", [False, True])
def test_components_are_found_in_products_of_expressions(square: bool) -> None:
    """A factor inside an expression may be written transposed; square shapes do not tell."""
    features = 2 if square else 3
    P = np.random.default_rng(1).random((5, features))
    A, B = cp.Variable((2, features), nonneg=True), cp.Variable((2, 4), nonneg=True)
    stated = cp.sum(cp.huber(V - (P @ A.T) @ B))
    problem = cn.Problem(cp.Minimize(stated), [A[0, 1] == 0.3])
    assert tuple(problem.shapes.values()) == ((features, 2), (2, 4))
    result = problem.solve(cn.TangentPlane(), stop=2)
    assert result.W[1, 0] == pytest.approx(0.3)
    A.value, B.value = result.W.T, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)


def test_both_factors_may_be_written_transposed() -> None:
    W, H = variables()
    stated = cp.sum(cp.huber(V.T - H.T @ W.T, 0.2))
    result = cn.Problem(cp.Minimize(stated), [W <= 1]).solve(cn.TangentPlane(), stop=2)
    assert (result.W.shape, result.H.shape) == ((5, 2), (2, 4))
    W.value, H.value = result.W, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)


def test_signs_stated_as_constraints_count_for_convexity() -> None:
    """W @ square(H) is convex in H for W ≥ 0 only, however that is said."""
    W, H = cp.Variable((5, 2)), cp.Variable((2, 4))
    objective = cp.Minimize(cp.sum(cp.exp(W @ cp.square(H) - V)) + cp.sum_squares(W - 1))
    with pytest.raises(cn.ModelError, match=r"must be convex, but .* is unknown"):
        cn.Problem(objective)
    result = cn.Problem(objective, [W >= 0, H <= 2, H >= -1]).solve(stop=2)
    assert (result.W >= 0).all()
    assert np.abs(result.H).max() <= 2


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_data_are_found_next_to_the_product(scale: float) -> None:
    W, H = variables()
    elsewhere = np.full((5, 4), 9.0)
    stated = cp.sum(cp.multiply(elsewhere, cp.abs(V - scale * (W @ H))))
    np.testing.assert_allclose(cn.Problem(cp.Minimize(stated)).V, V / scale)


def test_no_error_is_reported_of_a_part_of_the_model():
    V = np.random.default_rng(0).random((6, 5))
    W, H, b = (
        cp.Variable((6, 2), nonneg=True),
        cp.Variable((2, 5), nonneg=True),
        cp.Variable((6, 1)),
    )
    whole = cn.Problem(cp.Minimize(cp.sum(cp.huber(V - W @ H, 0.05))))
    assert whole.solve(stop=1).relative_error < 1
    with_offset = cn.Problem(cp.Minimize(cp.sum(cp.huber(V - (W @ H + b @ np.ones((1, 5))), 0.05))))
    result = with_offset.solve(stop=1)
    model = result[W] @ result[H] + result[b]
    known = np.sum((V - model) ** 2) / np.sum(V**2)
    assert np.isnan(result.relative_error) or result.relative_error == pytest.approx(known)
