"""Every kind of driver with every fault of its cone solvers: nothing raw, nothing lost or hidden."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from tests.solve.faults import ALL, FAULTS, RAISED, Sabotage, hanging, raising

V = np.random.default_rng(0).random((8, 7)) + 0.1
PLUS = cn.NonNegative()
BOUND = cn.Convex(lambda W: cp.sum(W, axis=0) <= 3, name="small columns")
W, H = cp.Variable((8, 2), nonneg=True), cp.Variable((2, 7), nonneg=True)
KEPT = cp.norm(V - W @ H, "fro") + 0.1 * cp.norm(W @ H, "nuc")
DRIVERS: dict[str, tuple[Any, Any]] = {
    "copies with programs": (
        cn.factorize(V, 2, W=[PLUS, BOUND, cn.L1(0.1)], H=[PLUS, cn.TotalVariation(0.1)]),
        cn.Splitting(),
    ),
    "copies under a divergence": (cn.factorize(V, 2, loss="kl", W=[PLUS, BOUND]), cn.Splitting()),
    "couplings": (cn.Problem(cp.Minimize(KEPT), [cp.sum(W, axis=0) <= 3]), None),
    "a largest residual": (cn.Problem(cp.Minimize(cp.max(cp.abs(V - W @ H)))), None),
    "a penalty of the user's": (
        cn.factorize(V, 2, W=[PLUS, cn.ConvexPenalty(lambda W: cp.max(W))]),
        None,
    ),
    "majorizers": (
        cn.factorize(V, 2, loss=cn.Absolute(), W=[PLUS, BOUND]),
        cn.TangentPlane(engine="conic"),
    ),
    "a cap": (
        cn.factorize(V, 2, loss=cn.Frobenius(cap=5.0), W=[PLUS, cn.SparsenessReward(1.0)]),
        None,
    ),
    "prescribed sparseness": (cn.factorize(V, 2, W=[PLUS, BOUND, cn.Sparseness(0.4, 0.4)]), None),
    "three factors": (cn.factorize(V, (2, 2), W=[PLUS, BOUND]), None),
}


PLANTED = ["SolverError", "MemoryError", "PanicException", *list(FAULTS)[len(RAISED) :]]


@pytest.fixture
def sabotage(monkeypatch: pytest.MonkeyPatch) -> Sabotage:
    monkeypatch.setitem(FAULTS, "KeyboardInterrupt", raising(KeyboardInterrupt))
    return Sabotage(monkeypatch)


def judged(problem: Any, result: cn.Result) -> None:
    """Hold what came back against the factors and against what was seen on the way."""
    assert all(np.isfinite(X).all() for X in result.factors.values())
    assert result.objective == pytest.approx(problem.restated(result.factors), rel=1e-7)
    if result.status.kind != "failed":
        assert problem.violation(result.factors) <= 1e-5
    seen = result.history.objective[result.history.feasible]
    assert result.objective <= seen.min(initial=np.inf) + 1e-9 * abs(result.objective)


def solved(driver: str, stop: int = 3) -> cn.Result:
    problem, solver = DRIVERS[driver]
    try:
        result = problem.solve(solver, stop=stop)
    except cn.SolveError as error:
        result = error.result
        assert result.status.kind == "failed"
    judged(problem, result)
    return result


@pytest.mark.parametrize("first", [1, 3])
@pytest.mark.parametrize("driver", DRIVERS)
def test_faults_of_every_backend_leave_the_best_iterate(
    driver: str, first: int, sabotage: Sabotage
) -> None:
    for fault in PLANTED:
        if (fault, first) != (
            "called infeasible",
            1,
        ):  # what all of them say of the start is believed
            sabotage.set(fault, ALL, first)
            solved(driver)


@pytest.mark.parametrize("driver", DRIVERS)
def test_one_fault_among_calls_that_work_is_no_failure(driver: str, sabotage: Sabotage) -> None:
    for fault in PLANTED:
        sabotage.set(fault, ALL, 2, once=True)
        assert solved(driver).status.kind != "failed", fault


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_interruption_in_any_driver_returns_the_best(driver: str, sabotage: Sabotage) -> None:
    sabotage.set("none", (), 0)
    solved(driver, stop=0)
    begun = sabotage.calls.count("compiled")  # the calls of the start
    sabotage.set("KeyboardInterrupt", ("compiled",), begun + 1, once=True)
    result = solved(driver, stop=9)
    if sabotage.calls.count("compiled") > begun:
        assert result.status is cn.Status.INTERRUPTED


@pytest.mark.parametrize("driver", DRIVERS)
def test_certificates_under_faults_never_raise_and_never_pass_what_fails(
    driver: str, sabotage: Sabotage
) -> None:
    problem, solver = DRIVERS[driver]
    result = problem.solve(solver, stop=3, throw=False)
    poor = problem.solve(solver, stop=0, throw=False)
    for fault in ("PanicException", "not a number", "no value", "called infeasible"):
        sabotage.set(fault, ALL, 1)
        for own in (result, poor):
            certificate = own.certificate()
            assert str(certificate)
            assert own.status.kind != "failed" or not certificate.ok


@pytest.mark.parametrize("start", ["given", "found"])
@pytest.mark.parametrize("driver", [*DRIVERS, "all at once"])
def test_a_backend_that_hangs_ends_with_the_time_of_any_driver(
    driver: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if driver == "all at once":
        pytest.importorskip("unopy")
        monkeypatch.setitem(DRIVERS, driver, (DRIVERS["three factors"][0], cn.JointNLP()))
    problem, solver = DRIVERS[driver]
    init = problem.start(None, np.random.default_rng(0)) if start == "given" else None
    now = hanging(monkeypatch)
    begin = now[0]
    options = {"init": init, "stop": cn.MaxIter(10**6), "time_limit": 60.0, "throw": False}
    result = problem.solve(solver, **options)
    assert now[0] - begin <= 1.2 * 60.0
    assert result.status.kind == "failed" or result.status is cn.Status.TIME_LIMIT
    judged(problem, result)
