"""Ten kinds of wrong answers, planted in results of plain, signed and rewarded problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import Discriminant

DATA = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
SOLVED = {
    "plain": lambda: cn.factorize(DATA, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)]),
    "signed": lambda: cn.factorize(DATA - DATA.mean(), 3, W=[cn.Sparseness(min=0.5)], H=[]),
    "rewarded": lambda: cn.factorize(
        DATA, 3, W=[cn.NonNegative(), cn.NormBall()], H=[cn.NonNegative(), cn.SparsenessReward(0.5)]
    ),
}


@pytest.fixture(scope="module", params=SOLVED)
def result(request):
    solved = SOLVED[request.param]().solve(stop=cn.MaxIter(1000) | cn.RelDecrease(1e-8))
    assert solved.certificate(), solved.certificate()
    return solved


def at(result, **factors):
    """Return the result at other factors, and everything that it reports of them true."""
    problem, there = result.problem, {**result.factors, **factors}
    objective, violation = problem.objective(there), problem.violations(there)
    last = replace(result.history[-1], objective=objective, violation=max(violation.values()))
    return replace(
        result,
        factors=there,
        objective=objective,
        relative_error=problem.relative_error(there),
        relative_errors=problem.relative_errors(there),
        violation=violation,
        history=cn.History([last], result.history.unit),
    )


def _with(X, place, values):
    X = X.copy()
    X[place] = values
    return X


def _forged(result, change):
    lines = [replace(it, objective=change(it.objective)) for it in result.history.iterations]
    return replace(result, history=cn.History(lines, result.history.unit))


PLANTED = {
    "a scaled factor": lambda r: at(r, H=1.1 * r.H),
    "a loosened bound": lambda r: at(r, W=np.ones_like(r.W)),
    "an early stop": lambda r: replace(r.problem.solve(stop=1), status=cn.Status.CONVERGED),
    "a swapped column": lambda r: at(r, W=r.W[:, [1, 0, 2]]),
    "a wrong status": lambda r: replace(r, status=cn.Status.INFEASIBLE),
    "a wrong relative error": lambda r: replace(r, relative_error=0.9 * r.relative_error),
    "no number": lambda r: replace(r, factors={"W": r.W, "H": _with(r.H, (0, 0), np.nan)}),
    "a dead component": lambda r: at(r, H=_with(r.H, 0, 0.0)),
    "a duplicated component": lambda r: at(r, W=_with(r.W, (slice(None), 0), r.W[:, 1])),
    "a forged trace": lambda r: _forged(r, lambda value: value + 0.5 * abs(value)),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_is_caught(result, kind):
    certificate = PLANTED[kind](result).certificate()
    assert not certificate, f"{kind} was certified:\n{certificate}"
    assert certificate.proves == "nothing"


def test_a_result_of_two_factors_is_proved_stationary(result):
    assert result.certificate().proves == "stationary"
    assert "proves: stationary" in str(result.certificate())


def test_one_convex_block_is_proved_to_be_a_global_minimum():
    D = np.random.default_rng(1).random((20, 3))
    problem = cn.compose(cn.Approx(DATA, "D @ H"), constants={"D": D})
    assert problem.solve().certificate().proves == "global"


def test_codes_without_a_promise_are_proved_feasible():
    shrunk = cn.factorize(DATA, 3).solve(cn.Coded(cn.coding.Lasso(0.05)), stop=50)
    assert shrunk.certificate().proves == "feasible"


def test_an_unbounded_problem_is_proved_along_its_direction():
    V = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 2.0, 2.0]])
    result = cn.solve(Discriminant(V, [0, 0, 1, 1]), throw=False)
    assert result.certificate().proves == "unbounded"
    other = replace(result, direction={"W": result.direction["W"][::-1]})
    assert not other.certificate()
    assert not replace(result, direction=None).certificate()
