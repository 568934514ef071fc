"""Every backend with every fault: nothing raw gets out, no iterate is lost, no label is believed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.programs.standard_form import Updated

V = np.random.default_rng(0).random((8, 7)) + 0.1
PLUS = cn.NonNegative()
BOUND = cn.Convex(lambda W: cp.sum(W, axis=0) <= 3, name="small columns")
PROBLEM = cn.factorize(V, 2, W=[PLUS, BOUND, cn.Sparseness(min=0.4)])  # its start is a cone program
REAL_SOLVE, REAL_RUN = cp.Problem.solve, Updated._run


class PanicException(BaseException):
    """What a library written in Rust raises."""


RAISED = (
    cp.SolverError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    MemoryError,
    OSError,
    PanicException,
)


def raising(kind: type[BaseException]) -> Callable[..., Any]:
    def fault(*_: Any, **__: Any) -> Any:
        raise kind("out of order")

    return fault


def filled(value: float, status: str | None = None) -> Callable[..., Any]:
    """Return a fault that answers with one number everywhere, under its own or another label."""

    def fault(problem: cp.Problem, **options: Any) -> None:
        REAL_SOLVE(problem, **options)
        for variable in problem.variables():
            variable.save_value(np.full(variable.shape, value))
        problem._status = status or problem._status

    return fault


def labeled(status: str) -> Callable[..., Any]:
    """Return a fault that gives a right answer the wrong label."""

    def fault(problem: cp.Problem, **options: Any) -> None:
        REAL_SOLVE(problem, **options)
        problem._status = status

    return fault


def silent(problem: cp.Problem, **options: Any) -> None:
    """Claim to be done without an answer."""
    for variable in problem.variables():
        variable.save_value(None)
    problem._status = cp.OPTIMAL


FAULTS: dict[str, Callable[..., Any]] = {kind.__name__: raising(kind) for kind in RAISED} | {
    "not a number": filled(np.nan),
    "infinite": filled(np.inf),
    "no value": silent,
    "infeasible point called optimal": filled(-1.0, cp.OPTIMAL),
    "infeasible point called inaccurate": filled(-1.0, cp.OPTIMAL_INACCURATE),
    "called infeasible": labeled(cp.INFEASIBLE),
    "called unbounded": labeled(cp.UNBOUNDED),
    "a label of its own": labeled("fine"),
    "stopped by a limit": labeled(cp.USER_LIMIT),
}


def compiled_fault(name: str) -> Callable[..., tuple[str, Any, int]]:
    """Return the same fault for the compiled program."""

    def fault(self: Updated, *data: Any) -> tuple[str, Any, int]:
        if name in {kind.__name__ for kind in (*RAISED, KeyboardInterrupt)}:
            FAULTS[name]()
        status, x, iterations = REAL_RUN(self, *data)
        point = {"not a number": np.nan, "infinite": np.inf, "no value": np.nan}
        label = {
            "called infeasible": cp.INFEASIBLE,
            "called unbounded": cp.UNBOUNDED,
            "a label of its own": "fine",
            "stopped by a limit": "MaxTime",
            "infeasible point called inaccurate": cp.OPTIMAL_INACCURATE,
        }
        wrong = -1.0 if name.startswith("infeasible point") else point.get(name, 0.0)
        x = np.full_like(x, wrong) if name in point or wrong else x
        return label.get(name, status), x, iterations

    return fault


@dataclass
class Sabotage:
    """Lets some backends fail from their n-th call on, or at that call only."""

    monkeypatch: pytest.MonkeyPatch
    calls: list[str] = field(default_factory=list)

    def set(self, fault: str, backends: tuple[str, ...], first: int, once: bool = False) -> None:
        self.calls.clear()

        def due(backend: str) -> bool:
            self.calls.append(backend)
            seen = self.calls.count(backend)
            return backend in backends and (seen == first if once else seen >= first)

        def solve(problem: cp.Problem, solver: str = "", **options: Any) -> Any:
            how = FAULTS[fault] if due(solver) else REAL_SOLVE
            return how(problem, solver=solver, **options)

        def run(program: Updated, *data: Any) -> Any:
            how = compiled_fault(fault) if due("compiled") else REAL_RUN
            return how(program, *data)

        self.monkeypatch.setattr(cp.Problem, "solve", solve)
        self.monkeypatch.setattr(Updated, "_run", run)


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
ALL = ("compiled", *cp.installed_solvers())


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
    """Each call takes the time that it is given, or ten seconds an iteration; the clock is a fake."""
    now = [1000.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def hangs(problem: cp.Problem, solver: str = "", **options: Any) -> Any:
        limits = ("time_limit", "time_limit_secs")
        seconds = [options[name] for name in limits if name in options]
        rounds = [options[name] for name in ("max_iters", "max_iter") if name in options]
        now[0] += seconds[0] if seconds else 10.0 * (rounds[0] if rounds else 360)
        problem._status = cp.USER_LIMIT

    def run(program: Updated, *data: Any) -> Any:
        while not program._is_late(None):
            now[0] += 1.0
        return "CallbackTerminated", np.zeros(1), 3

    start = PROBLEM.start(None, np.random.default_rng(0))
    monkeypatch.setattr(cp.Problem, "solve", hangs)
    monkeypatch.setattr(Updated, "_run", run)
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
