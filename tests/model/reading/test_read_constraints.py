# ruff: noqa: SIM300 - on which side the variable stands is what is tried here
"""Constraints are read on what they say, however they are written, and none of them is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

M, N, R = 6, 5, 3
V = np.random.default_rng(0).random((M, N)) + 0.1
KNOWN = np.random.default_rng(1).random(M)
ROW = np.array([0.2, 0.3, 0.4])
ONES = np.ones(M)
NONNEG = "NonNegative()"
RISING = "Monotone(increasing=True, each='component')"
FALLING = "Monotone(increasing=False, each='component')"


class Case(NamedTuple):
    """Constraints on W, the terms they should be read as, and the attributes of W."""

    write: Callable[[Any], Any]
    terms: list[str]
    attributes: dict[str, Any] = {}  # noqa: RUF012


def nonneg(write: Callable[[Any], Any], terms: list[str]) -> Case:
    return Case(write, terms, {"nonneg": True})


CASES = {
    "W >= 0": Case(lambda W: [W >= 0], [NONNEG]),
    "0 <= W": Case(lambda W: [0 <= W], [NONNEG]),
    "-W <= 0": Case(lambda W: [-W <= 0], [NONNEG]),
    "a multiple": Case(lambda W: [3 * W.T >= 0], [NONNEG]),
    "max(-W) <= 0": Case(lambda W: [cp.max(-W) <= 0], [NONNEG]),
    "min(W) >= 0": Case(lambda W: [cp.min(W) >= 0], [NONNEG]),
    "neg(W) <= 0": Case(lambda W: [cp.neg(W) <= 0], [NONNEG]),
    "min over columns": Case(lambda W: [cp.min(W, axis=0) >= 0], [NONNEG]),
    "NonNeg": Case(lambda W: [cp.NonNeg(W)], [NONNEG]),
    "entry by entry": Case(lambda W: [W[i, j] >= 0 for i in range(M) for j in range(R)], [NONNEG]),
    "row by row": Case(lambda W: [W[i, :] >= 0 for i in range(M)], [NONNEG]),
    "stacked": Case(lambda W: [cp.vec(W, order="C") >= 0], [NONNEG]),
    "said twice": nonneg(lambda W: [W >= 0, W >= -1], [NONNEG]),
    "nonneg": nonneg(lambda W: [], [NONNEG]),
    "rising": nonneg(lambda W: [cp.diff(W, axis=0) >= 0], [NONNEG, RISING]),
    "rising, by slices": Case(lambda W: [2 * W[:-1] <= 2 * W[1:]], [RISING]),
    "falling, by columns": nonneg(
        lambda W: [cp.diff(W[:, j]) <= 0 for j in range(R)], [NONNEG, FALLING]
    ),
    "sum of all": nonneg(lambda W: [cp.sum(W) == 2], [NONNEG, "FactorSum(total=2.0, equal=True)"]),
    "at most a sum": Case(
        lambda W: [3 * cp.sum(W) - 6 <= 0], ["FactorSum(total=2.0, equal=False)"]
    ),
    "one norm": Case(lambda W: [cp.norm(W, "fro") <= 1], ["FactorNorm(radius=1.0)"]),
    "one norm, squared": nonneg(
        lambda W: [cp.sum_squares(W) <= 4], [NONNEG, "FactorNorm(radius=2.0)"]
    ),
    "nonpos": Case(lambda W: [], ["Box(-inf, 0)"], {"nonpos": True}),
    "bounds": Case(lambda W: [], ["Box(0.1, 1)"], {"bounds": [0.1, 1]}),
    "bounds from one side": Case(lambda W: [], [NONNEG], {"bounds": [0, None]}),
    "no bound at all": Case(lambda W: [W <= np.inf], []),
    "W <= 1": Case(lambda W: [W <= 1], ["Box(-inf, 1)"]),
    "0 <= W <= 1": nonneg(lambda W: [W <= 1], ["Box(0, 1)"]),
    "2 W <= 1": nonneg(lambda W: [2 * W <= 1], ["Box(0, 0.5)"]),
    "W <= 1 - W": nonneg(lambda W: [W <= 1 - W], ["Box(0, 0.5)"]),
    "abs(W) <= 1": Case(lambda W: [cp.abs(W) <= 1], ["Box(-1, 1)"]),
    "norm_inf(W) <= 1": Case(lambda W: [cp.norm_inf(W) <= 1], ["Box(-1, 1)"]),
    "maximum": Case(lambda W: [cp.maximum(W, 2 * W) <= 1, W >= 0], ["Box(0, 0.5)"]),
    "bound for each entry": nonneg(lambda W: [W <= np.outer(ONES, ROW)], ["Box(0, (3, 6) array)"]),
    "bound on one entry": Case(lambda W: [W[0, 0] <= 1], ["Box(-inf, (3, 6) array)"]),
    "fixed column": nonneg(lambda W: [W[:, 0] == KNOWN], ["Fixed(6 of 18 entries)", NONNEG]),
    "fixed by two bounds": nonneg(
        lambda W: [W[:, 0] <= KNOWN, W[:, 0] >= KNOWN], ["Fixed(6 of 18 entries)", NONNEG]
    ),
    "fixed piece": nonneg(lambda W: [W[2:4, 1] == 0.5], ["Fixed(2 of 18 entries)", NONNEG]),
    "fixed row": nonneg(lambda W: [W[1, :] == ROW], ["Fixed(3 of 18 entries)", NONNEG]),
    "fixed by indexes": nonneg(
        lambda W: [W[[0, 2], [1, 1]] == 0.5], ["Fixed(2 of 18 entries)", NONNEG]
    ),
    "fixed under a mask": nonneg(
        lambda W: [cp.multiply(np.eye(M, R), W) == np.eye(M, R)],
        ["Fixed(3 of 18 entries)", NONNEG],
    ),
    "zeros": nonneg(lambda W: [cp.Zero(W[0])], ["Fixed(3 of 18 entries)", NONNEG]),
    "a multiple is fixed": Case(lambda W: [3 * W[0, 0] == 0.3], ["Fixed(1 of 18 entries)"]),
    "fixed twice, but for rounding": Case(
        lambda W: [3 * W == 0.3, W == 0.1], ["Fixed(18 of 18 entries)"]
    ),
    "fixed below the bound of the rest": Case(
        lambda W: [W[0, :] == -1, W[1:, :] >= 0],
        ["Fixed(3 of 18 entries)", "Box((3, 6) array, inf)"],
    ),
    "sums of columns": nonneg(
        lambda W: [cp.sum(W, axis=0) == 1], [NONNEG, "Simplex(total=1.0, each='component')"]
    ),
    "sums of rows": nonneg(
        lambda W: [cp.sum(W, axis=1) == 2], [NONNEG, "Simplex(total=2.0, each='sample')"]
    ),
    "sums by a product": nonneg(
        lambda W: [W.T @ ONES == 1], [NONNEG, "Simplex(total=1.0, each='component')"]
    ),
    "sums, a multiple": nonneg(
        lambda W: [6 == 2 * cp.sum(W, axis=0, keepdims=True)],
        [NONNEG, "Simplex(total=3.0, each='component')"],
    ),
    "sums, one by one": nonneg(
        lambda W: [cp.sum(W[:, j]) == 1 for j in (2, 0, 1)],
        [NONNEG, "Simplex(total=1.0, each='component')"],
    ),
    "sums in both directions": nonneg(
        lambda W: [cp.sum(W, axis=0) == 2, cp.sum(W, axis=1) == 1],
        [NONNEG, "Simplex(total=2.0, each='component')", "Simplex(total=1.0, each='sample')"],
    ),
    "norms of columns": Case(
        lambda W: [cp.norm(W, 2, axis=0) <= 1], ["NormBall(radius=1.0, each='component')"]
    ),
    "norms of rows, a multiple": Case(
        lambda W: [2 * cp.norm(W.T, axis=0) <= 3], ["NormBall(radius=1.5, each='sample')"]
    ),
    "squared norms": Case(
        lambda W: [cp.sum(cp.square(W), axis=0) <= 4], ["NormBall(radius=2.0, each='component')"]
    ),
    "sums of squares": Case(
        lambda W: [4 >= cp.sum_squares(W, axis=0)], ["NormBall(radius=2.0, each='component')"]
    ),
}

KEPT: dict[str, Case] = {
    "one sum only": nonneg(lambda W: [cp.sum(W[:, 0]) == 1], [NONNEG, "Convex"]),
    "different sums": nonneg(lambda W: [cp.sum(W, axis=0) == ROW], [NONNEG, "Convex"]),
    "sums below": nonneg(lambda W: [cp.sum(W, axis=0) <= 1], [NONNEG, "Convex"]),
    "weighted sums": nonneg(lambda W: [W.T @ np.arange(1.0, M + 1) == 1], [NONNEG, "Convex"]),
    "at least a sum": nonneg(lambda W: [cp.sum(W) >= 2], [NONNEG, "Convex"]),
    "signed sums": Case(lambda W: [cp.sum(W, axis=0) == 1], ["Convex"]),
    "differences": nonneg(lambda W: [cp.abs(cp.diff(W, axis=0)) <= 0.1], [NONNEG, "Convex"]),
    "smooth second differences": nonneg(
        lambda W: [cp.norm(cp.diff(W, 2), 2, axis=0) <= 0.2], [NONNEG, "Convex"]
    ),
    "one norm about a center": Case(lambda W: [cp.norm(W - 0.1, "fro") <= 1], ["Convex"]),
    "different norms": Case(lambda W: [cp.norm(W, 2, axis=0) <= ROW], ["Convex"]),
    "norms about a center": Case(lambda W: [cp.norm(W - 0.1, 2, axis=0) <= 1], ["Convex"]),
    "sum of norms": Case(lambda W: [cp.sum(cp.norm(W, 2, axis=0)) <= 1], ["Convex"]),
    "one-norms": Case(lambda W: [cp.norm(W, 1, axis=0) <= 1], ["Convex"]),
    "equal columns": nonneg(lambda W: [W[:, 0] == W[:, 1]], [NONNEG, "Convex"]),
    "ordered in part": nonneg(lambda W: [W[:-2] >= W[1:-1]], [NONNEG, "Convex"]),
    "ordered both ways": nonneg(
        lambda W: [cp.diff(W[:, 0]) >= 0, cp.diff(W[:, 1:], axis=0) <= 0],
        [NONNEG, "Convex", "Convex"],
    ),
    "ordered with a step": nonneg(lambda W: [cp.diff(W, axis=0) >= 0.01], [NONNEG, "Convex"]),
    "a cone": Case(lambda W: [cp.SOC(1, W[:, 0])], ["Convex"]),
    "semidefinite": Case(lambda W: [W[:R, :] + W[:R, :].T >> 0], ["Convex"]),
    "logarithm": Case(lambda W: [cp.sum(cp.log(W + 1), axis=0) >= 0.5], ["Convex"]),
    "sign needed": nonneg(lambda W: [cp.square(cp.max(W)) <= 0.5], [NONNEG, "Convex"]),
    "entry and sum in one": nonneg(
        lambda W: [cp.hstack([W[0, 0], cp.sum(W[:, 1])]) <= 0.5], [NONNEG, "Convex"]
    ),
    "largest entry of each column": nonneg(
        lambda W: [cp.sum(cp.max(W, axis=0)) <= 1], [NONNEG, "Convex"]
    ),
}


def state(case: Case) -> tuple[cn.Problem, cp.Variable, list[cp.Constraint]]:
    W = cp.Variable((M, R), name="W", **case.attributes)
    H = cp.Variable((R, N), nonneg=True, name="H")
    stated = case.write(W)
    return cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), stated), W, stated


def violation(stated: list[cp.Constraint], W: cp.Variable, at: np.ndarray) -> float:
    W.save_value(at)
    return max((float(np.max(c.violation(), initial=0.0)) for c in stated), default=0.0)


@pytest.mark.parametrize("name", CASES)
def test_known_constraints_are_read_in_any_spelling(name: str) -> None:
    problem, _, _ = state(CASES[name])
    assert sorted(map(str, problem.W)) == sorted(CASES[name].terms)


@pytest.mark.parametrize("name", CASES)
def test_what_was_read_is_what_was_said(name: str) -> None:
    """At random points, inside and outside, the terms and CVXPY agree on who is feasible."""
    problem, W, stated = state(CASES[name])
    block = problem.blocks[0]
    rng = np.random.default_rng(0)
    own = [] if not CASES[name].attributes else [_attribute_constraint(W, CASES[name].attributes)]
    points = [rng.standard_normal((M, R)) for _ in range(5)]
    points += [0.3 * np.abs(point) for point in points]
    if block.projection is not None:
        points += [block.projection(np.ascontiguousarray(X.T)).T for X in points]
    verdicts = set()
    for X in points:
        inside = violation([*stated, *own], W, X) < 1e-9
        assert inside == (block.violation(np.ascontiguousarray(X.T)) < 1e-9)
        verdicts.add(inside)
    assert verdicts == ({True, False} if problem.W and block.projection else verdicts)


def _attribute_constraint(W: cp.Variable, attributes: dict[str, Any]) -> cp.Constraint:
    low, high = attributes.get("bounds", (-np.inf, np.inf))
    low = 0 if attributes.get("nonneg") else low
    high = 0 if attributes.get("nonpos") else high
    high = np.inf if high is None else high
    return (
        cp.multiply(W, 1.0) <= high if low == -np.inf else cp.NonNeg(cp.minimum(W - low, high - W))
    )


@pytest.mark.parametrize("name", KEPT)
def test_other_convex_constraints_reach_the_cone_solver(name: str) -> None:
    problem, W, stated = state(KEPT[name])
    kinds = [str(term).split("(")[0] for term in problem.W]
    assert kinds == [term.split("(")[0] for term in KEPT[name].terms]
    result = problem.solve(cn.TangentPlane(), stop=3)
    assert violation(stated, W, result.W) < 1e-6
    assert result.objective < result.history[0].objective + 1e-9


def test_constraints_on_h_speak_of_its_rows_and_columns() -> None:
    W, H = cp.Variable((M, R), nonneg=True), cp.Variable((R, N), nonneg=True)
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(V - W @ H)),
        [
            cp.sum(H, axis=0) == 1,
            cp.norm(H, 2, axis=1) <= 2,
            H[0, 1] == 0.25,
            cn.sparseness(H, axis=1) >= 0.1,
            cn.sparseness(H, axis=0) <= 0.9,
        ],
    )
    assert sorted(map(str, problem.H)) == [
        "Fixed(1 of 15 entries)",
        "NonNegative()",
        "NormBall(radius=2.0, each='component')",
        "Simplex(total=1.0, each='sample')",
        "Sparseness(min=0.0, max=0.9, each='sample')",
        "Sparseness(min=0.1, max=1.0, each='component')",
    ]
    fixed = next(term for term in problem.H if isinstance(term, cn.Fixed))
    assert fixed.mask[0, 1]
    assert fixed.values[0, 1] == 0.25


def test_bounds_on_sparseness_are_merged_into_a_band() -> None:
    W, H = cp.Variable((M, R), nonneg=True), cp.Variable((R, N), nonneg=True)
    bounds = [cn.sparseness(W, axis=0) >= 0.3, np.float64(0.4) <= cn.sparseness(W, axis=0)]
    bounds.append(cn.sparseness(W, axis=0) <= 0.8)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), bounds)
    assert list(problem.W) == [cn.NonNegative(), cn.Sparseness(0.4, 0.8)]
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), cn.sparseness(W, axis=0) == 0.5)
    assert list(problem.W) == [cn.NonNegative(), cn.Sparseness(0.5, 0.5)]


def test_one_component_makes_sums_of_samples_fixed_entries() -> None:
    W, H = cp.Variable((M, 1), nonneg=True), cp.Variable((1, N), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [cp.sum(H, axis=0) == 1])
    assert list(map(str, problem.H)) == [f"Fixed({N} of {N} entries)"]


def test_terms_are_named_in_one_short_line() -> None:
    problem, _, _ = state(Case(lambda W: [cp.diff(W) <= np.ones((M - 1, R))], []))
    assert str(problem.W[0]) == "Convex(W[1:6, 0:3] + -(W[0:5, 0:3]) <= [5×3])"


@pytest.mark.parametrize("size", [2.0**-200, 1e-15, 1e15, 2.0**200])
def test_balls_are_read_in_any_unit(size: float) -> None:
    stated = {
        "NormBall": lambda W: cp.norm(W, 2, axis=0) <= 3 * size,
        "FactorNorm": lambda W: cp.norm(W, "fro") <= 3 * size,
        "Convex": lambda W: cp.norm(W, 2, axis=0) <= size * np.array([2.0, 3.0, 3.0]),
    }
    for name, write in stated.items():
        problem, _, _ = state(Case(lambda W, write=write: [write(W)], []))
        (term,) = problem.W
        assert type(term).__name__ == name
        if name != "Convex":
            assert term.radius == pytest.approx(3 * size, rel=1e-11)


def test_sums_with_small_coefficients_that_differ_are_no_simplex() -> None:
    ratios = 1e-9 * np.arange(1.0, M + 1)
    problem, _, _ = state(nonneg(lambda W: [ratios @ W == 1e-9], []))
    assert [type(term).__name__ for term in problem.W] == ["NonNegative", "Convex"]
