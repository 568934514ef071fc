"""Penalties are read as the usual ones exactly where they are, and kept as written elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = np.random.default_rng(0).random((5, 4))
ROWS = np.array([1.0, 2.0])

KNOWN: dict[str, tuple[Callable[[Any], cp.Expression], list[Any]]] = {
    "sum": (lambda H: cp.sum(H), [cn.L1(1.0)]),
    "weighted sum": (lambda H: 0.1 * cp.sum(H), [cn.L1(0.1)]),
    "sum of multiples": (lambda H: cp.sum(0.1 * H.T), [cn.L1(0.1)]),
    "mean": (lambda H: cp.mean(H), [cn.L1(1 / 8)]),
    "ones": (lambda H: 3 * (np.ones(2) @ H @ np.ones(4)), [cn.L1(3.0)]),
    "magnitudes": (lambda H: 0.1 * cp.sum(cp.abs(H)), [cn.L1(0.1)]),
    "norm1": (lambda H: cp.norm1(cp.vec(H, order="F")) / 2, [cn.L1(0.5)]),
    "sum_squares": (lambda H: 2 * cp.sum_squares(H), [cn.L2(2.0)]),
    "norm squared": (lambda H: cp.norm(H, "fro") ** 2, [cn.L2(1.0)]),
    "sum of squares": (lambda H: cp.sum(cp.square(2 * H)), [cn.L2(4.0)]),
    "quad_over_lin": (lambda H: cp.quad_over_lin(H, 2), [cn.L2(0.5)]),
    "both": (lambda H: 0.1 * (cp.sum(H) + 3 * cp.sum_squares(H)), [cn.L1(0.1), cn.L2(0.3)]),
    "both in one sum": (lambda H: cp.sum(0.1 * H + cp.square(H)), [cn.L1(0.1), cn.L2(1.0)]),
    "nothing": (lambda H: 0 * cp.sum(H), [cn.L1(0.0)]),
}

GRAPH = np.diag([1.0, 3.0, 3.0, 1.0]) - np.diag([1.0, 2.0, 1.0], 1) - np.diag([1.0, 2.0, 1.0], -1)
ROOT = np.random.default_rng(7).standard_normal((3, 4))
KNOWN |= {
    "variation": (lambda H: cp.sum(cp.abs(cp.diff(H, axis=1))), [cn.TotalVariation(1.0)]),
    "variation of slices": (
        lambda H: 0.3 * cp.norm1(H[:, 1:] - H[:, :-1]),
        [cn.TotalVariation(0.3)],
    ),
    "variation row by row": (
        lambda H: sum(2 * cp.tv(H[j, :]) for j in range(2)),
        [cn.TotalVariation(2.0)],
    ),
    "variation down": (
        lambda H: cp.norm1(cp.diff(H, axis=0)),
        [cn.TotalVariation(1.0, each="sample")],
    ),
    "smooth": (lambda H: 0.5 * cp.sum_squares(cp.diff(H, axis=1)), [cn.Smooth(0.5)]),
    "smooth, second order": (
        lambda H: cp.norm(cp.diff(H, 2, axis=1), "fro") ** 2,
        [cn.Smooth(1.0, order=2)],
    ),
    "mixed norm": (lambda H: 0.2 * cp.mixed_norm(H, 2, 1), [cn.L21(0.2)]),
    "mixed norm of columns": (
        lambda H: cp.sum(cp.norm(H, 2, axis=0)),
        [cn.L21(1.0, each="sample")],
    ),
    "nuclear norm": (lambda H: 0.5 * cp.normNuc(H), [cn.Nuclear(0.5)]),
    "nuclear norm of the transpose": (lambda H: cp.norm(H.T, "nuc"), [cn.Nuclear(1.0)]),
    "graph, row by row": (
        lambda H: sum(0.1 * cp.quad_form(H[j, :], GRAPH) for j in range(2)),
        [cn.GraphLaplacian(0.1, GRAPH)],
    ),
    "graph by a root": (lambda H: cp.sum_squares(ROOT @ H.T), [cn.GraphLaplacian(1.0, np.eye(4))]),
    "variation and sum": (
        lambda H: cp.norm1(cp.diff(H, axis=1)) + 0.1 * cp.sum(H),
        [cn.TotalVariation(1.0), cn.L1(0.1)],
    ),
}

KEPT: dict[str, Callable[[Any], cp.Expression]] = {
    "reward": lambda H: -0.1 * cp.sum(H),
    "rows differ": lambda H: cp.sum(ROWS @ H),
    "part": lambda H: cp.sum(H[0, :]),
    "square of the sum": lambda H: cp.square(cp.sum(H)),
    "differences about a center": lambda H: cp.sum_squares(cp.diff(H, axis=1) - 1),
    "differences of one row": lambda H: cp.sum_squares(cp.diff(H[0, :])),
    "cubes of differences": lambda H: cp.sum(cp.power(cp.abs(cp.diff(H, axis=1)), 3)),
    "about a center": lambda H: cp.sum_squares(H - 1),
    "norm": lambda H: cp.norm(H, "fro"),
    "group norms about a center": lambda H: cp.sum(cp.norm(H - 1, 2, axis=1)),
    "isotropic variation": lambda H: cp.tv(H),
    "nuclear norm of a part": lambda H: cp.normNuc(H[:, :2]),
    "largest column sum": lambda H: cp.norm(H, 1),
    "Huber, wide": lambda H: cp.sum(cp.huber(H, 1e6)),
    "entropy": lambda H: -cp.sum(cp.entr(H + 0.1)),
    "sign needed": lambda H: cp.square(cp.max(H)),
    "sign needed by norm": lambda H: cp.norm(cp.max(H, axis=0)),
    "bent far out": lambda H: (
        0.5 * cp.sum(cp.abs(H - 100) + cp.abs(H + 100)) - 800 + cp.sum(cp.abs(H))
    ),
    "quadratic and more": lambda H: cp.sum_squares(H) + cp.sum(cp.power(H, 3)),
}


def state(write: Callable[[Any], cp.Expression]) -> tuple[cn.Problem, cp.Expression, Any, Any]:
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True, name="H")
    stated = cp.sum_squares(V - W @ H) + write(H)
    return cn.Problem(cp.Minimize(stated)), stated, W, H


def assert_equal(problem: cn.Problem, stated: cp.Expression, W: Any, H: Any) -> None:
    rng = np.random.default_rng(3)
    for size in (1e-3, 1.0, 1e3, 1e5):
        W.value, H.value = rng.random(W.shape), size * rng.random(H.shape)
        read = problem.objective({"W": W.value, "H": H.value})
        assert read == pytest.approx(float(stated.value), rel=1e-9)


@pytest.mark.parametrize("name", KNOWN)
def test_usual_penalties_are_read_in_any_spelling(name: str) -> None:
    write, expected = KNOWN[name]
    problem, stated, W, H = state(write)
    found = [term for term in problem.H if not isinstance(term, cn.NonNegative)]
    assert [type(term) for term in found] == [type(term) for term in expected]
    assert [term.each for term in found] == [term.each for term in expected]
    assert [getattr(t, "order", 0) for t in found] == [getattr(t, "order", 0) for t in expected]
    weights = [term.weight for term in expected]
    assert [term.weight for term in found] == pytest.approx(weights, rel=1e-12)
    assert_equal(problem, stated, W, H)


@pytest.mark.parametrize("name", KEPT)
def test_other_penalties_are_kept_as_written(name: str) -> None:
    problem, stated, W, H = state(KEPT[name])
    assert any(isinstance(term, cn.ConvexPenalty) for term in problem.H)
    assert_equal(problem, stated, W, H)
    result = problem.solve(cn.TangentPlane(), stop=2)
    W.value, H.value = result.W, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)
    assert result.objective <= result.history[0].objective


def test_a_sum_over_a_signed_factor_is_no_sum_of_magnitudes() -> None:
    W, H = cp.Variable((5, 2)), cp.Variable((2, 4))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + cp.sum(H)))
    assert isinstance(problem.H[0], cn.ConvexPenalty)
    magnitudes = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + cp.norm1(H)))
    assert list(magnitudes.H) == [cn.L1(1.0)]


def test_non_negativity_stated_as_a_constraint_counts() -> None:
    W, H = cp.Variable((5, 2)), cp.Variable((2, 4))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + cp.sum(H)), [cp.min(H) >= 0])
    assert list(problem.H) == [cn.NonNegative(), cn.L1(1.0)]


def test_penalties_on_w_reach_the_transposed_block() -> None:
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    rough = cp.sum_squares(cp.diff(W, axis=0)) + 0.2 * cp.sum(W) + cp.sum(cp.max(W, axis=0))
    stated = cp.sum_squares(V - W @ H) + rough
    problem = cn.Problem(cp.Minimize(stated))
    assert cn.L1(0.2) in problem.W
    assert_equal(problem, stated, W, H)


def test_structured_penalties_on_w_speak_of_its_columns() -> None:
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    for write, wanted in (
        (cp.sum(cp.abs(cp.diff(W, axis=0))), cn.TotalVariation(1.0)),
        (cp.sum_squares(cp.diff(W, 2, axis=0)), cn.Smooth(1.0, order=2)),
        (cp.mixed_norm(W, 2, 1), cn.L21(1.0, each="sample")),
    ):
        stated = cp.sum_squares(V - W @ H) + write
        problem = cn.Problem(cp.Minimize(stated))
        assert wanted in problem.W
        assert_equal(problem, stated, W, H)


def _pairs(X: cp.Variable) -> cp.Expression:
    """Norms of features 0 and 3 and of the other three, in each column."""
    some, others = X[np.array([0, 3])], X[np.array([1, 2, 4])]
    return cp.sum(cp.norm(some, 2, axis=0)) + cp.sum(cp.norm(others, 2, axis=0))


GROUPS: dict[str, Callable[[Any], cp.Expression]] = {
    "by axis": lambda W: 0.3 * _pairs(W),
    "one by one": lambda W: sum(
        0.3 * cp.norm(W[np.array(rows), j]) for rows in ([0, 3], [1, 2, 4]) for j in range(2)
    ),
    "mixed": lambda W: (
        0.3
        * (
            cp.mixed_norm(W[np.array([0, 3])].T, 2, 1)
            + cp.mixed_norm(W[np.array([1, 2, 4])].T, 2, 1)
        )
    ),
}


@pytest.mark.parametrize("name", GROUPS)
def test_norms_of_groups_are_read_by_their_values(name: str) -> None:
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    stated = cp.sum_squares(V - W @ H) + GROUPS[name](W)
    problem = cn.Problem(cp.Minimize(stated))
    (found,) = (term for term in problem.W if isinstance(term, cn.GroupLasso))
    first = found.groups == found.groups[0]
    assert (first == [True, False, False, True, False]).all()
    assert found.weight == pytest.approx(0.3)
    assert_equal(problem, stated, W, H)


@pytest.mark.parametrize(
    "write",
    [
        lambda W: cp.norm(W[:2, 0]) + cp.norm(W[2:, 0]) + cp.norm(W[:3, 1]) + cp.norm(W[3:, 1]),
        lambda W: cp.norm(W[:2, 0]) + cp.norm(W[2:4, 1]),
        lambda W: cp.sum(cp.norm(W[:3], 2, axis=0)) + cp.sum(cp.norm(W[2:], 2, axis=0)),
    ],
    ids=["groups differ", "not all", "groups overlap"],
)
def test_other_norms_of_parts_are_kept_as_written(write: Any) -> None:
    W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    stated = cp.sum_squares(V - W @ H) + write(W)
    problem = cn.Problem(cp.Minimize(stated))
    assert not any(isinstance(term, cn.GroupLasso) for term in problem.W)
    assert_equal(problem, stated, W, H)
