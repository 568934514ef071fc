"""Every backend with every fault: nothing raw gets out, no iterate is lost, no label is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from tests.solve.faults import ALL, FAULTS, RAISED, Sabotage, hanging, raising

V = np.random.default_rng(0).random((8, 7)) + 0.1
PLUS = cn.NonNegative()
BOUND = cn.Convex(lambda W: cp.sum(W, axis=0) <= 3, name="small columns")
PROBLEM = cn.factorize(V, 2, W=[PLUS, BOUND, cn.Sparseness(min=0.4)])  # its start is a cone program


@pytest.fixture
def sabotage(monkeypatch: pytest.MonkeyPatch) -> Sabotage:
    return Sabotage(monkeypatch)


def solved(solver: Any, **options: Any) -> cn.Result:
    """Solve, and judge by plain NumPy that nothing is lost and nothing is hidden."""
    try:
        result = PROBLEM.solve(solver, **({"stop": 3} | options))
    except cn.SolveError as error:
        result = error.result
        assert result.status.kind == "failed"
    W, H = result.W, result.H
    assert np.isfinite(W).all()
    assert np.isfinite(H).all()
    assert result.objective == pytest.approx(((V - W @ H) ** 2).sum(), rel=1e-9)
    if result.status.kind != "failed":
        assert W.min() >= 0
        assert H.min() >= 0
        assert W.sum(axis=0).max() <= 3 * (1 + 1e-5)
        assert cn.sparseness(W, axis=0).min() >= 0.4 - 1e-5
    seen = result.history.objective[result.history.feasible]
    assert result.objective <= seen.min(initial=np.inf) * (1 + 1e-9) or not seen.size
    return result


SOLVERS = (cn.TangentPlane, cn.SparsityMaximization)
BACKENDS = ("compiled", "CLARABEL", "ECOS", "SCS", "PIQP")


def using(kind: Any, backend: str) -> Any:
    return kind(engine="conic", backend=None if backend == "compiled" else backend)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_backend_that_fails_is_followed_by_others(
    backend: str, fault: str, sabotage: Sabotage
) -> None:
    solver = using(SOLVERS[len(fault) % 2], backend)
    # Clarabel by way of CVXPY is asked when the compiled program has failed.
    failing = ("compiled", backend) if backend == "CLARABEL" else (backend,)
    sabotage.set(fault, failing, first=1 + 2 * (len(fault) // 2 % 2))
    result = solved(solver)
    assert result.status.kind != "failed", result
    assert backend in sabotage.calls


@pytest.mark.parametrize("fault", FAULTS)
def test_when_every_backend_fails_the_best_iterate_is_in_the_error(
    fault: str, sabotage: Sabotage
) -> None:
    for kind in SOLVERS:
        sabotage.set(fault, ALL, first=3)
        assert solved(using(kind, "compiled")).history[0].feasible


@pytest.mark.parametrize("fault", [kind.__name__ for kind in RAISED] + ["not a number", "no value"])
def test_backends_that_fail_at_the_start_are_not_blamed_on_the_constraints(
    fault: str, sabotage: Sabotage
) -> None:
    sabotage.set(fault, ALL, 1)
    with pytest.raises(cn.SolveError) as caught:
        PROBLEM.solve(cn.TangentPlane(engine="conic"), stop=3)
    result = caught.value.result
    assert result.status is cn.Status.BACKEND_FAILED
    assert result.remarks
    assert "CLARABEL" in str(caught.value)


def test_two_backends_have_to_agree_that_nothing_is_feasible(sabotage: Sabotage) -> None:
    for liar in ("compiled", "ECOS"):
        sabotage.set("called infeasible", (liar,), 1)
        assert solved(cn.TangentPlane(engine="conic")).status is cn.Status.MAX_ITER


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "CLARABEL"])
@pytest.mark.parametrize("first", [3, 4, 6])
def test_an_interruption_in_any_backend_returns_the_best(
    backend: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = Sabotage(monkeypatch)
    monkeypatch.setitem(FAULTS, "KeyboardInterrupt", raising(KeyboardInterrupt))
    stopped.set("KeyboardInterrupt", (backend,), first, once=True)
    result = solved(using(cn.TangentPlane, backend), stop=9)
    assert result.status is cn.Status.INTERRUPTED
    assert result.max_violation <= 1e-6


@pytest.mark.parametrize("fault", [*FAULTS, "KeyboardInterrupt"])
def test_a_nonlinear_solver_that_fails_leaves_the_start(
    fault: str, sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("unopy")
    monkeypatch.setitem(FAULTS, "KeyboardInterrupt", raising(KeyboardInterrupt))
    sabotage.set(fault, ("UNO",), 1)
    result = solved(cn.JointNLP(), stop=None)
    assert result.history[0].feasible
    assert (result.status is cn.Status.INTERRUPTED) == (fault == "KeyboardInterrupt")
    assert result.status is not cn.Status.CONVERGED


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_that_hangs_ends_with_the_time(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = PROBLEM.start(None, np.random.default_rng(0))
    now = hanging(monkeypatch)
    for kind in SOLVERS:
        begin = now[0]
        result = solved(
            using(kind, backend), init=Exactly(start), stop=cn.MaxIter(10**6), time_limit=60.0
        )
        assert now[0] - begin <= 1.2 * 60.0
        assert result.status.kind == "failed" or result.status is cn.Status.TIME_LIMIT


@dataclass(frozen=True)
class Exactly(cn.Given):
    """A start that is already feasible."""

    def __init__(self, factors: dict[str, Any]) -> None:
        super().__init__(factors["W"], factors["H"])
