"""Time limits are limits; the clock is a fake, so that nothing here waits or depends on a machine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry.compile_time import timed
from conicnmf.solve.deadline import is_late, seconds_left, until
from conicnmf.solve.programs import backends, slices
from conicnmf.solve.programs.native import NativeProgram
from conicnmf.solve.programs.standard_form import Updated

V = np.random.default_rng(0).random((9, 8)) + 0.1
PLUS = cn.NonNegative()
SMOOTH = cn.Convex(lambda W: cp.norm(cp.diff(W, axis=0), 2, axis=0) <= 5)
CONIC = cn.factorize(V, 2, W=[PLUS, SMOOTH])
SPARSE = cn.factorize(V, 2, W=[PLUS, cn.Sparseness(min=0.5)])
REAL_SOLVE = cp.Problem.solve


@dataclass
class Clock:
    """Shows a time that tests set."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(time, "perf_counter", fake)
    return fake


def test_a_deadline_holds_for_what_is_inside_and_the_earlier_one_counts(clock: Clock) -> None:
    assert seconds_left() == np.inf
    with until(110.0):
        with until(150.0):
            assert seconds_left() == 10.0
        with until(104.0):
            clock.now = 105.0
            assert seconds_left() == 0.0
            assert is_late()
        assert not is_late()


@dataclass
class Hangs:
    """A backend that works until it is told to stop, or for an hour; then it fails."""

    clock: Clock
    calls: list[tuple[str, float]]

    def __call__(self, problem: cp.Problem, solver: str, **options: Any) -> None:
        allowed = [options.get(name) for name in ("time_limit", "time_limit_secs")]
        seconds = next((s for s in allowed if s is not None), None)
        if seconds is None:  # ten seconds an iteration
            seconds = 10.0 * options.get("max_iters", 360)
        self.calls.append((solver, seconds))
        self.clock.now += seconds
        raise cp.SolverError("gave up")


@pytest.fixture
def hangs(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Hangs:
    stand_in = Hangs(clock, [])
    monkeypatch.setattr(
        cp.Problem, "solve", lambda self, solver=None, **options: stand_in(self, solver, **options)
    )
    monkeypatch.setattr(Updated, "_run", lambda *_: ("NumericalError", np.zeros(1), 1))
    return stand_in


@pytest.mark.parametrize("backend", [None, "CLARABEL", "SCS", "ECOS"])
@pytest.mark.parametrize("kind", [cn.TangentPlane, cn.SparsityMaximization])
def test_the_whole_chain_of_backends_shares_the_time(
    kind: Any, backend: str | None, hangs: Hangs
) -> None:
    solver = kind(engine="conic", backend=backend)
    result = SPARSE.solve(solver, time_limit=60.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.n_iter <= 1
    assert hangs.clock.now - 100.0 <= 1.2 * 60.0
    assert hangs.calls


def test_nothing_is_started_when_no_time_is_left(clock: Clock, monkeypatch: Any) -> None:
    started = []
    monkeypatch.setattr(cp.Problem, "solve", lambda *_, **__: started.append(1))
    x = cp.Variable(2)
    with until(100.0):
        found, records = backends.solve_along(
            cp.Problem(cp.Minimize(cp.sum_squares(x - 1))), x, ("CLARABEL", "SCS")
        )
    assert found is None
    assert [(r.backend, r.status) for r in records] == [("CLARABEL", "no time left")]
    assert not started


def test_the_compiled_program_ends_with_the_time(clock: Clock, monkeypatch: Any) -> None:
    real = Updated._is_late

    def slow(self: Updated, info: Any) -> bool:
        clock.now += 1.0  # every iteration of Clarabel
        return real(self, info)

    monkeypatch.setattr(Updated, "_is_late", slow)
    result = CONIC.solve(cn.TangentPlane(engine="conic"), time_limit=50.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert 49.0 <= clock.now - 100.0 <= 55.0
    assert result.objective == pytest.approx(result.history.objective.min())


def test_starts_end_with_the_time(hangs: Hangs) -> None:
    """A start that needs a cone program, and gets no answer in time, is a place outside."""
    problem = cn.factorize(V, 2, W=[PLUS, cn.Convex(lambda W: cp.sum(W, axis=0) >= 50)])
    with pytest.raises(cn.SolveError, match="time limit was reached before") as at:
        problem.solve(time_limit=60.0)
    assert hangs.clock.now - 100.0 <= 1.2 * 60.0
    assert at.value.result.status is cn.Status.INFEASIBLE


def test_long_native_loops_are_cut_into_slices(clock: Clock, monkeypatch: Any) -> None:
    monkeypatch.setattr(slices, "_WORK", 1.0)  # one sweep a slice
    counts: list[int] = []

    def sweep(B: Any, count: int) -> tuple[Any, int]:
        counts.append(count)
        clock.now += 1.0
        return B, count

    with until(105.0):
        _, made = slices.in_slices(sweep, np.ones((2, 3)), 2000)
    assert made == 5
    assert counts == [1] * 5
    counts.clear()
    assert slices.in_slices(sweep, np.ones((2, 3)), 2000)[1] == 2000
    assert counts == [2000]


def test_slices_change_no_number(clock: Clock, monkeypatch: Any) -> None:
    block = SPARSE.blocks[1]
    factors = SPARSE.start(None, np.random.default_rng(0))
    whole = NativeProgram(block).at(block.given(factors)).solve().B
    monkeypatch.setattr(slices, "_WORK", 40.0)
    with until(1e9):
        sliced = NativeProgram(block).at(block.given(factors)).solve().B
    np.testing.assert_allclose(sliced, whole, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", [cn.SparsityMaximization(rounds=50), cn.TangentPlane(rounds=50)])
def test_rounds_within_a_block_end_with_the_time(
    solver: Any, clock: Clock, monkeypatch: Any
) -> None:
    """With a limit the clock advances at every look, so that a thousand looks are the limit."""
    looks = []

    def tick() -> float:
        looks.append(1)
        return 100.0 + len(looks)

    monkeypatch.setattr(time, "perf_counter", tick)
    result = SPARSE.solve(solver, stop=cn.MaxIter(10**6), time_limit=1000.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert len(looks) < 1200
    assert result.objective == pytest.approx(result.history.objective.min())


def test_every_solver_has_a_limit_of_its_own() -> None:
    from conicnmf.solve.choice import known_solvers

    for solver in known_solvers(CONIC):
        assert "MaxIter" in repr(solver.default_stop)
    for name, option in (("UNO", "max_iterations"), ("IPOPT", "max_iter"), ("SCS", "max_iters")):
        assert backends._OPTIONS[name][option] <= 10_000


def test_a_point_of_no_iterations_is_not_taken() -> None:
    """As a backend returns it that had no time for one."""
    x = cp.Variable(2)
    program = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 0])
    x.save_value(np.ones(2))
    for status, iterations, ok in (
        (cp.OPTIMAL_INACCURATE, 0, False),
        (cp.OPTIMAL_INACCURATE, 7, True),
        (cp.OPTIMAL, 0, True),  # as for a program of equations, which takes none
    ):
        record = backends.InnerSolve("SCS", status, iterations, 0.1)
        assert backends._judged(program, x, record).ok is ok


def test_labels_are_not_believed() -> None:
    x = cp.Variable(2)
    program = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 0])
    record = backends.InnerSolve("SCS", cp.OPTIMAL, 9, 0.1)
    for value, ok in ((np.ones(2), True), (-np.ones(2), False), (np.full(2, np.nan), False)):
        x.save_value(value)
        assert backends._judged(program, x, record).ok is ok


def test_an_inaccurate_point_with_small_residuals_is_taken_at_once(monkeypatch: Any) -> None:
    """Clarabel's "almost solved" is often right to more digits than a step needs."""
    from conicnmf.solve.programs import standard_form

    real = standard_form._judged
    monkeypatch.setattr(standard_form, "_judged", lambda label, off: real("AlmostSolved", off))
    result = CONIC.solve(cn.TangentPlane(engine="conic"), stop=2)
    assert set(result.history.inner_frame()["backend"]) == {"CLARABEL"}
    assert standard_form._judged("AlmostSolved", 1e-7) == cp.OPTIMAL
    assert standard_form._judged("AlmostSolved", 1e-4) == cp.OPTIMAL_INACCURATE
    assert standard_form._judged("Solved", 0.1) == "AlmostSolved, off by 1.0e-01"


def test_scs_prints_nothing(capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    def prints(self: cp.Problem, *args: Any, **options: Any) -> Any:
        print("ERROR: init failed")
        return REAL_SOLVE(self, *args, **options)

    monkeypatch.setattr(cp.Problem, "solve", prints)
    result = CONIC.solve(cn.TangentPlane(engine="conic", backend="SCS"), stop=1)
    assert result.n_iter == 1
    assert capfd.readouterr().out == ""


@dataclass(frozen=True)
class Compiles(cn.HALS):
    """Has kernels that take 15 seconds to compile, one inside the other, whenever they are used."""

    def sweep(self, problem: Any, factors: Any, memo: Any) -> Any:
        def inner() -> None:
            time.perf_counter.now += 5.0  # type: ignore[attr-defined]

        def outer() -> None:
            time.perf_counter.now += 10.0  # type: ignore[attr-defined]
            timed(inner)()

        timed(outer)()
        time.perf_counter.now += 1.0  # type: ignore[attr-defined]
        return super().sweep(problem, factors, memo)


def test_the_history_leaves_out_what_is_compiled(clock: Clock) -> None:
    result = cn.factorize(V, 2).solve(Compiles(), stop=3)
    assert result.history.seconds.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_time_limit_counts_what_is_compiled(clock: Clock) -> None:
    result = cn.factorize(V, 2).solve(Compiles(), stop=100, time_limit=20.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.n_iter == 2
