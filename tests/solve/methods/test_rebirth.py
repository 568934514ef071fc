"""Components that die are brought to life where that is worth its price, penalties included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.methods.rebirth import reborn

PLUS = cn.NonNegative()
RNG = np.random.default_rng(0)
W, H = RNG.random((20, 3)), RNG.random((3, 30))
V = np.vstack([W @ H, np.zeros((2, 30))])  # two features are never seen
BEGIN = (
    np.vstack([np.hstack([W[:, :2], np.zeros((20, 1))]), [[0, 0, 1.0], [0, 0, 1.0]]]),
    np.vstack([H[:2], np.zeros((1, 30))]),
)
"""Two components of three are right; the last one looks where there is nothing to see."""

SOLVERS = [cn.HALS(), cn.ANLS(), cn.ProjectedGradient(), cn.SparsityMaximization()]
LONG = cn.MaxIter(2000) | cn.RelDecrease(1e-6, patience=10)


def dead(result: cn.Result) -> int:
    return int((~(result.W.any(axis=0) & result.H.any(axis=1))).sum())


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.parametrize("penalty", [cn.L1(0.05), cn.L2(0.1)], ids=str)
def test_a_solve_does_not_settle_with_a_component_that_could_work(
    solver: Any, penalty: Any
) -> None:
    problem = cn.factorize(V, 3, W=[PLUS, cn.L2(0.05)], H=[PLUS, penalty])
    result = problem.solve(solver, init=BEGIN, stop=LONG)
    assert not dead(result)
    two = cn.factorize(V, 2, W=[PLUS, cn.L2(0.05)], H=[PLUS, penalty])
    assert result.objective < 0.8 * two.solve(solver, init=(W2, H2), stop=LONG).objective
    assert (np.diff(result.history.objective) <= 1e-9 * result.history[0].objective).all()


W2, H2 = BEGIN[0][:, :2], BEGIN[1][:2]


def test_a_component_that_no_price_is_worth_stays_dead() -> None:
    # An entry of H cannot gain more than 2⟨w, v⟩ ≤ 2‖v‖ with ‖w‖ ≤ 1.
    weight = 2.1 * float(np.linalg.norm(V, axis=0).max())
    problem = cn.factorize(V, 3, W=[PLUS, cn.NormBall()], H=[PLUS, cn.L1(weight)])
    assert reborn(problem, {"W": np.zeros((22, 3)), "H": np.zeros((3, 30))}) is None


@pytest.mark.parametrize(
    ("on_w", "on_h"),
    [
        ([PLUS, cn.UnitNorm()], [PLUS, cn.L1(0.1)]),
        ([PLUS, cn.Sparseness(min=0.3), cn.L2(0.1)], [PLUS]),
        ([PLUS, cn.Sparseness(max=0.5)], [PLUS, cn.L1(0.1)]),
        ([cn.UnitNorm()], [cn.L2(0.1)]),
        ([PLUS, cn.NormBall()], [PLUS, cn.L1(0.1), cn.L2(0.1)]),
    ],
    ids=str,
)
def test_what_is_brought_to_life_is_feasible_and_lower(on_w: list[Any], on_h: list[Any]) -> None:
    problem = cn.factorize(V, 3, W=on_w, H=on_h)
    factors = dict(problem.start(None, np.random.default_rng(1)))
    factors["H"] = factors["H"].copy()
    factors["H"][2] = 0.0
    kept = {name: X.copy() for name, X in factors.items()}
    found = reborn(problem, factors)
    assert found is not None
    assert problem.violation(found) <= 1e-6
    assert found["H"][2].any()
    np.testing.assert_array_equal(found["W"][:, :2], factors["W"][:, :2])
    # The objective once more, as it is written.
    before, after = (
        float(((V - X["W"] @ X["H"]) ** 2).sum())
        + sum(float(p.value(X["W"].T)) for p in on_w if isinstance(p, cn.L2))
        + sum(float(p.value(X["H"])) for p in on_h if isinstance(p, (cn.L1, cn.L2)))
        for X in (factors, found)
    )
    assert after < before * (1 - 1e-6)
    again = reborn(problem, factors)
    assert again is not None
    for name in kept:
        np.testing.assert_array_equal(factors[name], kept[name])
        np.testing.assert_array_equal(found[name], again[name])


def test_a_zero_start_is_left_where_that_is_better() -> None:
    problem = cn.factorize(V, 2, H=[PLUS, cn.L1(0.1)])
    zero = (np.zeros((22, 2)), np.zeros((2, 30)))
    result = problem.solve(cn.HALS(), init=zero)
    assert result.objective < 0.5 * float((V**2).sum())
    assert not dead(result)
