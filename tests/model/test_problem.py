"""`Problem` and `factorize`: two ways to the same statement."""

from __future__ import annotations

import html
import inspect
from dataclasses import FrozenInstanceError
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.solve.choice import fitting

M, N, R = 8, 6, 3
V = np.random.default_rng(0).random((M, N)) + 0.1
MASK = (np.random.default_rng(1).random((M, N)) < 0.8).astype(float)
KNOWN = np.linspace(0.2, 0.6, M)


def variables() -> tuple[cp.Variable, cp.Variable]:
    return cp.Variable((M, R), nonneg=True, name="W"), cp.Variable((R, N), nonneg=True, name="H")


def both_doors() -> tuple[cn.Problem, cn.Problem]:
    W, H = variables()
    fixed = np.zeros((M, R), dtype=bool)
    fixed[:, 0] = True
    stated = cn.Problem(
        cp.Minimize(2 * cp.sum_squares(cp.multiply(MASK, V - W @ H)) + 0.1 * cp.sum(H)),
        [W[:, 0] == KNOWN, cp.norm(W, 2, axis=0) <= 2, cn.sparseness(H, axis=1) >= 0.3],
    )
    terms = cn.factorize(
        V,
        R,
        loss=cn.WeightedFrobenius(MASK, 2.0),
        W=[cn.NonNegative(), cn.Fixed(fixed, np.outer(KNOWN, np.ones(R))), cn.NormBall(2.0)],
        H=[cn.NonNegative(), cn.Sparseness(min=0.3), cn.L1(0.1)],
    )
    return stated, terms


def test_both_doors_lead_to_the_same_problem() -> None:
    stated, terms = both_doors()
    assert sorted(map(str, stated.W)) == sorted(map(str, terms.W))
    assert sorted(map(str, stated.H)) == sorted(map(str, terms.H))
    assert str(stated.loss) == str(terms.loss)
    assert stated.shapes == terms.shapes
    np.testing.assert_array_equal(stated.V, terms.V)
    rng = np.random.default_rng(0)
    factors = {"W": rng.random((M, R)), "H": rng.random((R, N))}
    ours, theirs = (problem for problem in (stated, terms))
    assert ours.objective(factors) == pytest.approx(theirs.objective(factors), rel=1e-12)
    assert sorted(ours.violations(factors).values()) == pytest.approx(
        sorted(theirs.violations(factors).values()), rel=1e-12
    )


def test_both_doors_lead_to_the_same_answer() -> None:
    first, second = (problem.solve(cn.TangentPlane(), stop=3) for problem in both_doors())
    assert first.objective == pytest.approx(second.objective, rel=1e-5)


def test_smooth_simplex_fixed_and_masked_together() -> None:
    """Any mixture of convex constraints holds at once, to the last digits."""
    W, H = variables()
    conditions = [
        cp.abs(cp.diff(W, axis=0)) <= 0.15,
        cp.sum(H, axis=0) == 1,
        W[:, 0] == KNOWN,
    ]
    stated = cp.sum_squares(cp.multiply(MASK, V - W @ H))
    problem = cn.Problem(cp.Minimize(stated), conditions)
    result = problem.solve(seed=0)
    W.value, H.value = result.W, result.H
    for condition in conditions:
        assert np.max(condition.violation()) < 1e-6
    assert result.status.kind == "converged"
    assert result.objective == pytest.approx(float(stated.value), rel=1e-9)
    assert result.objective < 0.9 * result.history[0].objective
    assert (result.W >= 0).all()
    assert (result.H >= 0).all()
    # Each factor is the best one for the other, by CVXPY's own account.
    for held, free in ((W, H), (H, W)):
        fixed = stated.tree_copy({id(held): cp.Constant(held.value)})
        own = [c for c in conditions if c.variables()[0] is free]
        best = cp.Problem(cp.Minimize(fixed), own).solve(solver="CLARABEL")
        assert result.objective <= best * (1 + 1e-2)


def test_what_a_user_writes() -> None:
    """The introduction's example, on small data."""
    known = np.eye(M)[0] + 0.05  # a column sparse enough for the bound on all of them
    W = cp.Variable((M, 4), nonneg=True)
    H = cp.Variable((4, N), nonneg=True)
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * cp.sum(H)),
        [
            cn.sparseness(W, axis=0) >= 0.6,
            cn.sparseness(H, axis=1) <= 0.9,
            cp.sum(H, axis=0) == 1,
            W[:, 0] == known,
        ],
    )
    text = problem.explain()
    assert "yes  TangentPlane" in text
    assert "no   HALS" in text
    result = problem.solve(cn.TangentPlane(), seed=0)
    assert (cn.sparseness(result.W, axis=0) >= 0.6 - 1e-6).all()
    assert (cn.sparseness(result.H, axis=1) <= 0.9 + 1e-6).all()
    np.testing.assert_allclose(result.H.sum(axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(result.W[:, 0], known, atol=1e-6)
    assert result.status.kind in ("converged", "stopped")
    assert len(result.history) > 1

    problem = cn.factorize(
        V, rank=4, W=[cn.NonNegative(), cn.Sparseness(min=0.6)], H=[cn.NonNegative()]
    )
    table = cn.compare(
        problem, [cn.TangentPlane(), cn.ProjectedGradient(), cn.Multiplicative()], seeds=range(2)
    )
    assert table.table.groupby("solver")["status"].first()["Multiplicative"] == "SKIPPED"
    assert table.best().max_violation < 1e-6


@pytest.mark.parametrize("bounds", [[cn.Box(0, 0.2)], [cn.NonNegative(), cn.Box(upper=0.2)]])
def test_a_box_holds_whatever_the_solver(bounds: list[Any]) -> None:
    problem = cn.factorize(V, R, W=bounds)
    solvers = fitting(problem)
    assert len(solvers) >= 2
    for solver in solvers:
        result = problem.solve(solver, stop=5, throw=False)
        assert result.W.max() <= 0.2 + 1e-6, solver.name
        assert result.history.violation.max() <= 1e-6, solver.name
        assert result.objective < 0.9 * result.history[0].objective, solver.name


def test_a_problem_is_a_statement_that_does_not_change() -> None:
    stated, _ = both_doors()
    with pytest.raises(FrozenInstanceError):
        stated.rank = 4  # type: ignore[misc]
    before = repr(stated)
    stated.solve(cn.TangentPlane(), stop=1)
    assert repr(stated) == before


def test_solving_does_not_write_into_the_users_variables() -> None:
    W, H = variables()
    cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H))).solve(stop=2)
    assert W.value is None
    assert H.value is None


def test_the_text_of_a_problem_is_short() -> None:
    W, H = variables()
    problem = cn.Problem(
        cp.Minimize(cp.sum(cp.huber(V - W @ H)) + cp.sum_squares(cp.diff(H, axis=1))),
        [W[:, :2] <= V[:, :2]],
    )
    lines = repr(problem).splitlines()
    assert lines[0] == "Problem: V (8 × 6) ≈ W H, rank 3"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["loss", "W", "H"]
    assert all(len(line) < 160 for line in lines)


@pytest.mark.parametrize("door", ["expressions", "terms"])
def test_inputs_come_back_unchanged(door: str) -> None:
    data, weights, known = V.copy(), MASK.copy(), KNOWN.copy()
    if door == "expressions":
        W, H = variables()
        loss = cp.sum_squares(cp.multiply(weights, data - W @ H))
        problem = cn.Problem(cp.Minimize(loss), [W[:, 0] == known])
    else:
        fixed = np.zeros((M, R), dtype=bool)
        fixed[:, 0] = True
        values = np.outer(known, np.ones(R))
        problem = cn.factorize(
            data,
            R,
            loss=cn.WeightedFrobenius(weights),
            W=[cn.NonNegative(), cn.Fixed(fixed, values)],
        )
        np.testing.assert_array_equal(values, np.outer(KNOWN, np.ones(R)))
    start = (np.ones((M, R)), np.ones((R, N)))
    problem.solve(init=start, stop=2)
    for given, kept in ((data, V), (weights, MASK), (known, KNOWN)):
        np.testing.assert_array_equal(given, kept)
    assert (start[0] == 1).all()
    assert (start[1] == 1).all()


def test_the_constant_of_the_objective_is_part_of_it() -> None:
    W, H = variables()
    plain = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H))).solve(cn.HALS(), stop=5)
    shifted = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + 100)).solve(cn.HALS(), stop=5)
    assert shifted.objective == pytest.approx(plain.objective + 100, rel=1e-12)
    np.testing.assert_allclose(shifted.history.objective, plain.history.objective + 100, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_precision_is_kept(kind: Any, dtype: Any) -> None:
    data = kind((10 * V).astype(dtype))
    result = cn.factorize(data, R).solve(cn.HALS(), stop=2)
    expected = np.float32 if dtype == np.float32 else np.float64
    assert result.W.dtype == result.H.dtype == expected


def test_tables_and_pictures_are_methods_of_what_they_show():
    V = cn.datasets.low_rank(12, 10, 2, seed=0).V
    problem = cn.factorize(V, 2)
    runs = cn.compare(problem, [cn.HALS()], seeds=[0], stop=3)
    assert "HALS" in runs.to_markdown()
    assert r"\begin{tabular}" in runs.to_latex()
    shown = [
        cn.path(lambda s: cn.factorize(V, 2, H=[cn.NonNegative(), cn.L1(s)]), [0.1, 1.0], stop=3),
        cn.cross_validate_rank(V, [1, 2], folds=2, stop=3),
        cn.stability(problem, cn.HALS(), n_starts=2, stop=3),
    ]
    assert all(one.plot().axes for one in shown)


def test_notebooks_show_the_statement_as_text_that_is_no_markup():
    problem = cn.factorize(np.eye(3), 2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])
    shown = problem._repr_html_()
    assert shown == f"<pre>{html.escape(repr(problem))}</pre>"
    assert "Sparseness" in shown


def test_help_and_completion_show_what_a_problem_takes():
    shown = inspect.signature(cn.Problem).parameters
    assert list(shown) == ["objective", "constraints", "feature_names", "sample_names"]
    assert list(inspect.signature(cn.one_factor.ProjectiveNMF).parameters)[:2] == ["V", "rank"]
