"""Faults of cone solvers, planted by way of CVXPY and in the compiled program."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from conicnmf.solve.programs.standard_form import Updated

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


def hanging(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let calls take the time they are given, or ten seconds an iteration; return the fake clock."""
    now = [1000.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def hangs(problem: cp.Problem, solver: str = "", **options: Any) -> Any:
        limits = ("time_limit", "time_limit_secs", "max_wall_time")
        seconds = [options[name] for name in limits if name in options]
        rounds = [options[name] for name in ("max_iters", "max_iter") if name in options]
        now[0] += seconds[0] if seconds else 10.0 * (rounds[0] if rounds else 360)
        problem._status = cp.USER_LIMIT

    def run(program: Updated, *data: Any) -> Any:
        while not program._is_late(None):
            now[0] += 1.0
        return "CallbackTerminated", np.zeros(1), 3

    monkeypatch.setattr(cp.Problem, "solve", hangs)
    monkeypatch.setattr(Updated, "_run", run)
    return now


ALL = ("compiled", *cp.installed_solvers())
