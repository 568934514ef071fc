"""Whatever raises in a solve, the best iterate comes back and what went wrong is said."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.archive import Format
from conicnmf.model.problem import Problem
from conicnmf.solve import checkpoint as checkpoints
from conicnmf.solve import guard
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.programs.standard_form import Updated
from conicnmf.types import Factors

V = np.random.default_rng(0).random((7, 6)) + 0.1
PROBLEM = cn.factorize(V, 2)
CONIC = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Convex(lambda W: cp.sum(W, axis=0) <= 50)])


class PanicException(BaseException):
    """What a library written in Rust raises."""


FAULTS = [ZeroDivisionError, MemoryError, KeyError, RecursionError, PanicException, OSError]


@dataclass(frozen=True)
class Breaks(cn.ANLS):
    """Raises in its fourth iteration, or when it is started."""

    error: type[BaseException] = ValueError
    where: str = "sweep"

    def start(self, problem: Problem, context: Context) -> Any:
        if self.where == "start":
            raise self.error("no room")
        return super().start(problem, context)

    def sweep(self, problem: Problem, factors: Factors, memo: Any) -> Sweep:
        if self.where == "sweep" and problem.relative_error(factors) <= LIMIT:
            raise self.error("no room")
        return super().sweep(problem, factors, memo)


LIMIT = PROBLEM.solve(cn.ANLS(), stop=3).relative_error * (1 + 1e-9)


def kept(error: cn.SolveError) -> cn.Result:
    """Return the result in an error, which is as good as the best iterate."""
    result = error.result
    assert result.objective == pytest.approx(result.history.objective.min(), rel=1e-12)
    return result


@pytest.mark.parametrize("error", FAULTS)
def test_a_sweep_that_raises_leaves_the_best_iterate(error: type[BaseException]) -> None:
    with pytest.raises(cn.SolveError, match=f"the solver raised {error.__name__}: .*no room") as at:
        PROBLEM.solve(Breaks(error=error))
    result = kept(at.value)
    assert isinstance(at.value.__cause__, error)
    assert result.status is cn.Status.ERROR
    assert result.n_iter == 3
    again = PROBLEM.solve(Breaks(error=error), throw=False)
    np.testing.assert_array_equal(again.W, result.W)
    assert f"the solver raised {error.__name__}" in repr(again)


@pytest.mark.parametrize("error", FAULTS)
def test_a_solver_that_raises_when_it_is_set_up_leaves_the_start(
    error: type[BaseException],
) -> None:
    with pytest.raises(cn.SolveError) as at:
        PROBLEM.solve(Breaks(error=error, where="start"))
    assert kept(at.value).n_iter == 0


def test_wrong_settings_of_a_solver_are_told_as_such() -> None:
    with pytest.raises(cn.InputError, match="no room"):
        PROBLEM.solve(Breaks(error=cn.InputError, where="start"))


@pytest.mark.parametrize("error", FAULTS)
def test_a_start_that_raises_says_so(error: type[BaseException]) -> None:
    class Nowhere(cn.Random):
        def factors(self, problem: Any, rng: Any) -> Factors:
            raise error("no room")

    with pytest.raises(cn.SolveError, match=f"the start raised {error.__name__}") as at:
        PROBLEM.solve(init=Nowhere())
    assert at.value.result is None


def test_a_term_that_raises_later_leaves_the_best_iterate() -> None:
    calls = []

    class Tired(cn.L2):
        def value(self, B: Any) -> float:
            calls.append(1)
            if len(calls) > 9:
                raise RuntimeError("worn out")
            return super().value(B)

    result = cn.factorize(V, 2, H=[cn.NonNegative(), Tired(0.1)]).solve(throw=False)
    assert result.status is cn.Status.ERROR
    assert result.objective == result.history.lowest[-1]
    assert any("worn out" in remark for remark in result.remarks)


def test_an_error_in_a_callback_is_raised_with_the_best_iterate() -> None:
    def broken(iteration: Any, factors: Factors) -> None:
        if iteration.iteration == 3:
            raise ZeroDivisionError("mine")

    with pytest.raises(cn.SolveError, match="the callback raised ZeroDivisionError: mine") as at:
        PROBLEM.solve(cn.HALS(), callback=broken)
    assert kept(at.value).n_iter == 3
    assert isinstance(at.value.__cause__, ZeroDivisionError)


def test_a_callback_that_ends_the_process_does() -> None:
    def over(*_: Any) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        PROBLEM.solve(cn.HALS(), callback=over)


@pytest.mark.parametrize("scale", [1.0, 2.0**40])
def test_a_callback_cannot_change_the_factors(scale: float) -> None:
    def writes(_: Any, factors: Factors) -> None:
        with pytest.raises(ValueError, match="read-only"):
            factors["W"][:] = 0.0
        factors.clear()

    problem = cn.factorize(scale * V, 2)
    plain, watched = problem.solve(stop=5), problem.solve(stop=5, callback=writes)
    np.testing.assert_array_equal(plain.W, watched.W)


def test_a_monitor_that_raises_is_left_out() -> None:
    class Broken:
        def update(self, iteration: Any) -> None:
            raise OSError("no terminal")

        def close(self) -> None:
            raise OSError("no terminal")

    result = PROBLEM.solve(cn.HALS(), progress=Broken())
    assert result.status is cn.Status.CONVERGED
    assert "the monitor raised OSError: no terminal" in result.remarks[0]


def test_a_checkpoint_that_cannot_be_written_is_refused_before_any_work(tmp_path: Any) -> None:
    file = tmp_path / "file"
    file.write_text("")
    worked = []
    with pytest.raises(cn.InputError, match="checkpoint needs a folder that can be written to"):
        PROBLEM.solve(checkpoint=file / "run", callback=lambda *_: worked.append(1))
    (tmp_path / "run.npz").mkdir()
    with pytest.raises(cn.InputError, match="it is a folder"):
        PROBLEM.solve(checkpoint=tmp_path / "run", callback=lambda *_: worked.append(1))
    assert not worked


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_a_disk_that_fills_up_does_not_cost_the_answer(
    error: Exception, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    plain = PROBLEM.solve(stop=5)
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(Format, "write", full)
    result = PROBLEM.solve(stop=5, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(result.W, plain.W)
    assert result.status is cn.Status.MAX_ITER
    (remark,) = result.remarks
    assert "the checkpoint could not be written" in remark
    assert guard.in_words(error) in remark


def test_remarks_are_saved_with_the_result(tmp_path: Any) -> None:
    result = PROBLEM.solve(Breaks(), throw=False)
    assert cn.load(result.save(tmp_path / "run")).remarks == result.remarks != ()


def press(after: int) -> Any:
    """Return a function that presses Ctrl-C at its n-th call."""
    calls = []

    def maybe(*_: Any) -> None:
        calls.append(1)
        if len(calls) == after:
            signal.raise_signal(signal.SIGINT)

    return maybe


def test_ctrl_c_in_a_callback_of_native_code_ends_the_solve(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real, pressed = Updated._is_late, press(100)

    def late(self: Updated, info: Any) -> bool:
        pressed()
        return real(self, info)

    monkeypatch.setattr(Updated, "_is_late", late)
    solver = cn.TangentPlane(engine="conic")
    result = CONIC.solve(solver, stop=cn.MaxIter(1000))
    assert result.status is cn.Status.INTERRUPTED
    assert result.interrupted
    assert 0 < result.n_iter < 20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("number", [1, 2, 7])
def test_ctrl_c_that_a_backend_swallows_ends_the_solve(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, pressed = cp.Problem.solve, press(number)

    def swallows(self: cp.Problem, *args: Any, **options: Any) -> Any:
        try:
            pressed()
        except KeyboardInterrupt:
            raise cp.SolverError("interrupted") from None
        return real(self, *args, **options)

    monkeypatch.setattr(cp.Problem, "solve", swallows)
    solver = cn.TangentPlane(engine="conic", backend="ECOS")
    result = PROBLEM.solve(solver, stop=20)
    assert result.status is cn.Status.INTERRUPTED
    assert result.max_violation <= 1e-6


def test_ctrl_c_while_a_checkpoint_is_written_waits_for_it(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, pressed = Format.write, press(2)

    def slow(*args: Any, **options: Any) -> str:
        pressed()
        return real(*args, **options)

    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(Format, "write", slow)
    result = PROBLEM.solve(stop=9, checkpoint=tmp_path / "run")
    assert result.status is cn.Status.INTERRUPTED
    assert not result.remarks
    assert PROBLEM.solve(stop=9, checkpoint=tmp_path / "run").n_iter == 9


def test_ctrl_c_in_a_solve_inside_a_callback_ends_both() -> None:
    inner: list[cn.Result] = []

    def nested(iteration: Any, _: Factors) -> None:
        if iteration.iteration == 2:
            inner.append(PROBLEM.solve(stop=50, callback=press(3)))

    result = PROBLEM.solve(stop=50, callback=nested)
    assert inner[0].status is result.status is cn.Status.INTERRUPTED
    assert result.n_iter == 2


def test_the_users_own_handler_is_back_afterwards() -> None:
    mine = signal.getsignal(signal.SIGINT)
    PROBLEM.solve(stop=2)
    PROBLEM.solve(Breaks(), throw=False)
    assert signal.getsignal(signal.SIGINT) is mine


def test_a_solve_in_another_thread_leaves_signals_alone() -> None:
    found: list[cn.Result] = []
    thread = threading.Thread(target=lambda: found.append(CONIC.solve(stop=2)))
    thread.start()
    thread.join()
    assert found[0].n_iter == 2


def test_an_interruption_with_nothing_feasible_does_not_hide_that() -> None:
    nothing = cn.factorize(V, 2, W=[cn.Box(0.0, 0.0), cn.Sparseness(min=0.5)])
    result = nothing.solve(stop=50, callback=press(2), throw=False)
    assert result.status is cn.Status.COLLAPSED
    assert result.interrupted
