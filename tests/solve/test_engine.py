"""The outer loop: seeds, limits, interruptions, failures, and what is returned in each case."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.cli.options import usual_solvers
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.results import Iteration
from conicnmf.solve.choice import known_solvers
from conicnmf.solve.methods.base import Context, Solver, Sweep, Update
from conicnmf.types import Factors

V = np.random.default_rng(0).random((7, 6)) + 0.1
PROBLEM = cn.factorize(V, 2)
SPARSE = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])
BEST = PROBLEM.solve(cn.HALS(), stop=200)
FITTING = [type(s) for s in usual_solvers(PROBLEM) if not s.mismatches(PROBLEM)]


@dataclass(frozen=True)
class Scripted(Solver[Problem, int]):
    """Plays its moves one after the other, and stands still when there are none left."""

    moves: tuple[Callable[[Factors], Factors | cn.Status], ...] = ()

    def start(self, problem: Problem, context: Context) -> int:
        return 0

    def sweep(self, problem: Problem, factors: Factors, memo: int) -> Sweep:
        if memo >= len(self.moves):
            return Sweep(factors, memo)
        outcome = self.moves[memo](factors)
        if isinstance(outcome, cn.Status):
            return Sweep(factors, memo, status=outcome)
        return Sweep(outcome, memo + 1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time that is shown, which tests set."""
    shown = [50.0]
    monkeypatch.setattr(time, "perf_counter", lambda: shown[0])
    return shown


@dataclass
class Watch:
    """A monitor that notes what it is shown."""

    seen: list[Iteration] = field(default_factory=list)
    closed: int = 0

    def update(self, iteration: Iteration) -> None:
        self.seen.append(iteration)

    def close(self) -> None:
        self.closed += 1


def to_best(_: Factors) -> Factors:
    return {"W": BEST.W, "H": BEST.H}


def scaled(factor: float) -> Callable[[Factors], Factors]:
    return lambda factors: {"W": factor * factors["W"], "H": factors["H"]}


def entry(value: float) -> Callable[[Factors], Factors]:
    def move(factors: Factors) -> Factors:
        W = factors["W"].copy()
        W[0, 0] = value
        return {**factors, "W": W}

    return move


def interrupt(_: Factors) -> Factors:
    raise KeyboardInterrupt


@pytest.mark.parametrize("kind", FITTING)
def test_the_same_seed_gives_the_same_answer(kind: type[Solver]) -> None:
    first, again, other = (PROBLEM.solve(kind(), seed=seed, stop=5) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.W, again.W)
    np.testing.assert_array_equal(first.H, again.H)
    np.testing.assert_array_equal(first.history.objective, again.history.objective)
    assert not np.array_equal(first.W, other.W)
    assert first.seed == 3


def test_a_drawn_seed_is_told_and_repeats_the_run() -> None:
    drawn = PROBLEM.solve(cn.HALS(), seed=None, stop=3)
    again = PROBLEM.solve(cn.HALS(), seed=drawn.seed, stop=3)
    np.testing.assert_array_equal(drawn.W, again.W)
    assert PROBLEM.solve(cn.HALS(), seed=None, stop=3).seed != drawn.seed


@pytest.mark.parametrize("pair", [True, False])
def test_given_factors_are_where_the_solve_begins(pair: bool) -> None:
    W, H = np.full((7, 2), 0.5), np.full((2, 6), 0.25)
    start = (W, H) if pair else cn.Given(W, H)
    result = PROBLEM.solve(cn.HALS(), init=start, stop=0)
    np.testing.assert_array_equal(result.W, W)
    np.testing.assert_array_equal(result.H, H)
    assert result.n_iter == 0
    assert result.objective == pytest.approx(((V - W @ H) ** 2).sum())


def test_a_start_outside_the_constraints_is_brought_inside() -> None:
    outside = (np.ones((7, 2)), -np.eye(2, 6) + 1)
    result = SPARSE.solve(cn.HALS(), init=outside, stop=0)
    assert result.history.violation[0] <= 1e-6
    assert (cn.sparseness(result.W, axis=0) >= 0.5 - 1e-6).all()


def test_a_number_limits_the_iterations() -> None:
    result = PROBLEM.solve(cn.Multiplicative(), stop=7)
    assert result.n_iter == 7
    assert len(result.history) == 8  # the start is number zero
    assert result.status is cn.Status.MAX_ITER
    for same in (cn.MaxIter(7), np.int64(7)):
        assert PROBLEM.solve(cn.Multiplicative(), stop=same).n_iter == 7


def test_rules_are_combined() -> None:
    either = PROBLEM.solve(cn.HALS(), stop=cn.MaxIter(4) | cn.RelDecrease(1e-12))
    assert (either.n_iter, either.status) == (4, cn.Status.MAX_ITER)
    both = PROBLEM.solve(cn.HALS(), stop=cn.MaxIter(4) & cn.FactorChange(1e9))
    assert both.n_iter == 4
    assert both.status is cn.Status.STILL_FALLING
    still = PROBLEM.solve(Scripted(), stop=cn.MaxIter(50) | cn.FactorChange(1e-9))
    assert (still.n_iter, still.status) == (1, cn.Status.CONVERGED)


@pytest.mark.parametrize("limit", [0.0, 1e-9])
@pytest.mark.parametrize("kind", FITTING)
def test_a_tiny_time_limit_returns_the_feasible_start(kind: type[Solver], limit: float) -> None:
    result = PROBLEM.solve(kind(), time_limit=limit)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.n_iter == 0
    assert result.max_violation <= 1e-6


def test_a_time_limit_ends_a_long_solve_with_the_best_so_far(clock: list[float]) -> None:
    @dataclass(frozen=True)
    class Slow(cn.ANLS):
        """Takes three seconds over every iteration."""

        def sweep(self, problem: Problem, factors: Factors, memo: Any) -> Sweep:
            clock[0] += 3.0
            return super().sweep(problem, factors, memo)

    result = PROBLEM.solve(Slow(), stop=cn.MaxIter(10_000), time_limit=20.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.n_iter == 7
    assert result.objective == pytest.approx(result.history.objective.min(), rel=1e-12)


def test_a_solver_that_gives_up_when_time_is_over_ran_out_of_time(clock: list[float]) -> None:
    def late(_: Factors) -> cn.Status:
        clock[0] += 6.0
        return cn.Status.BACKEND_FAILED

    result = PROBLEM.solve(Scripted((to_best, late)), time_limit=5.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.objective == pytest.approx(BEST.objective)


def test_a_callback_sees_every_iteration_and_may_stop() -> None:
    seen: list[int] = []

    def enough(iteration: Iteration, factors: Factors) -> bool:
        seen.append(iteration.iteration)
        assert factors["W"].shape == (7, 2)
        return iteration.iteration == 3

    result = PROBLEM.solve(cn.HALS(), callback=enough)
    assert seen == [1, 2, 3]
    assert result.status is cn.Status.CALLBACK
    assert result.status.kind == "stopped"
    assert result.n_iter == 3


def test_an_interruption_returns_the_best_so_far() -> None:
    watch = Watch()
    result = PROBLEM.solve(Scripted((to_best, scaled(2.0), interrupt)), progress=watch)
    assert result.status is cn.Status.INTERRUPTED
    assert result.status.kind == "stopped"
    np.testing.assert_array_equal(result.W, BEST.W)
    assert result.n_iter == 2
    assert watch.closed == 1


@pytest.mark.parametrize("method", ["update", "prepare"])
def test_an_interruption_inside_a_block_counts_as_well(method: str) -> None:
    @dataclass(frozen=True)
    class Interrupted(cn.ProjectedGradient):
        def update(self, held: Subproblem, B: Any, memo: Any) -> Update:
            if method == "update" and held.block.name == "H":
                raise KeyboardInterrupt
            return super().update(held, B, memo)

        def prepare(self, block: Block, context: Context) -> Any:
            if method == "prepare":
                raise KeyboardInterrupt
            return super().prepare(block, context)

    try:
        result = PROBLEM.solve(Interrupted())
    except KeyboardInterrupt:
        pytest.fail("the interruption reached the caller, and the start is lost")
    assert result.status is cn.Status.INTERRUPTED
    assert result.n_iter == 0
    assert result.max_violation == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_out_of_range_are_a_failure_that_keeps_the_best(value: float) -> None:
    solver = Scripted((to_best, entry(value)))
    result = PROBLEM.solve(solver, throw=False)
    assert result.status is cn.Status.NOT_FINITE
    assert result.status.kind == "failed"
    np.testing.assert_array_equal(result.W, BEST.W)
    assert np.isfinite(result.history.objective).all()
    with pytest.raises(cn.SolveError, match=r"NOT_FINITE: .*rescale the data") as caught:
        PROBLEM.solve(solver)
    np.testing.assert_array_equal(caught.value.result.W, BEST.W)


def test_a_failed_backend_keeps_the_best() -> None:
    solver = Scripted((to_best, lambda _: cn.Status.BACKEND_FAILED))
    with pytest.raises(cn.SolveError, match=r"BACKEND_FAILED: .*backend") as caught:
        PROBLEM.solve(solver)
    assert caught.value.result.objective == pytest.approx(BEST.objective)
    assert PROBLEM.solve(solver, throw=False).status is cn.Status.BACKEND_FAILED


def test_a_collapse_is_never_called_converged() -> None:
    """A component at zero violates its bound, whatever the objective says."""

    def collapse(factors: Factors) -> Factors:
        return {"W": factors["W"] * np.array([1.0, 0.0]), "H": factors["H"]}

    result = SPARSE.solve(Scripted((collapse,)), stop=3)
    assert result.W.any(axis=0).all()  # the start was better
    nothing = cn.factorize(V, 2, W=[cn.Box(0.0, 0.0), cn.Sparseness(min=0.5)])
    with pytest.raises(cn.SolveError, match="COLLAPSED: A component became zero") as caught:
        nothing.solve(Scripted(), stop=3)
    assert caught.value.result.status.kind == "failed"


def test_of_iterates_that_go_up_and_down_the_best_is_kept() -> None:
    moves = (to_best, *(scaled(factor) for factor in (3.0, 0.5, 3.0, 0.5, 3.0)))
    result = PROBLEM.solve(Scripted(moves), stop=cn.MaxIter(100) | cn.RelDecrease(1e-6))
    assert result.status is cn.Status.OSCILLATING
    assert result.status.kind == "stopped"
    np.testing.assert_array_equal(result.W, BEST.W)
    assert result.objective == result.history.objective.min() == pytest.approx(BEST.objective)


def test_a_lower_objective_outside_the_constraints_does_not_count() -> None:
    result = SPARSE.solve(Scripted((to_best,)), stop=1)
    assert result.history.objective[1] < result.objective
    assert result.history.violation[1] > 1e-3
    assert result.max_violation <= 1e-6
    assert result.objective == pytest.approx(result.history.objective[0])


def test_a_start_of_infinite_value_is_brought_to_where_it_is_finite() -> None:
    """A divergence is infinite where the model is zero and the data are not."""
    W, H = cp.Variable((7, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum(cp.kl_div(V, W @ H))))
    factors = np.eye(7, 2), np.ones((2, 6))
    assert problem.objective(dict(zip("WH", factors, strict=True))) == np.inf
    result = problem.solve(cn.TangentPlane(), init=factors, stop=2)
    assert np.isfinite(result.history.objective).all()


def test_the_history_tells_what_happened() -> None:
    result = PROBLEM.solve(cn.ANLS(), stop=6)
    frame = result.history.to_frame()
    assert frame["iteration"].tolist() == list(range(7))
    assert frame["seconds"].is_monotonic_increasing
    assert (np.diff(frame["objective"]) <= 1e-12).all()
    assert result.objective == pytest.approx(((V - result.W @ result.H) ** 2).sum(), rel=1e-12)
    assert result.relative_error == pytest.approx(result.objective / (V**2).sum(), rel=1e-12)


@pytest.mark.parametrize("kind", FITTING)
def test_single_precision_is_kept(kind: type[Solver]) -> None:
    result = cn.factorize(V.astype(np.float32), 2).solve(kind(), stop=3)
    assert result.W.dtype == result.H.dtype == np.float32


def test_a_monitor_sees_the_start_and_every_iteration() -> None:
    watch = Watch()
    result = PROBLEM.solve(cn.HALS(), stop=4, progress=watch)
    assert watch.seen == result.history.iterations
    assert watch.closed == 1


def test_the_library_prints_nothing_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    PROBLEM.solve(cn.HALS(), stop=3)
    assert capsys.readouterr() == ("", "")
    PROBLEM.solve(cn.HALS(), stop=3, progress=True)
    assert capsys.readouterr().out == ""


def test_explain_says_which_solvers_fit_and_why_the_others_do_not() -> None:
    W, H = cp.Variable((7, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(V - W @ H) + cp.sum_squares(cp.diff(H, axis=1))),
        [cn.sparseness(W, axis=0) >= 0.5, cp.sum(H, axis=0) == 1],
    )
    text = problem.explain()
    for solver in known_solvers(problem):
        reasons = solver.mismatches(problem)
        assert f"  {'no ' if reasons else 'yes'}  {solver.name}" in text
        for reason in reasons:
            assert reason in text
    picked = problem.solve(init="random", stop=1).solver.split("(")[0]
    assert f"By default {picked} is picked: " in text.splitlines()[-1]


def test_a_solver_that_does_not_fit_is_refused_with_every_reason() -> None:
    W, H = cp.Variable((7, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    problem = cn.Problem(
        cp.Minimize(cp.sum_squares(V - W @ H) + cp.sum_squares(cp.diff(H, axis=1))),
        [W <= 1, cp.sum(H, axis=0) == 1],
    )
    solver = cn.Multiplicative()
    reasons = solver.mismatches(problem)
    assert len(reasons) == 3  # the penalty on H, and the constraints on W and on H
    with pytest.raises(cn.IncompatibleError) as caught:
        problem.solve(solver)
    text = str(caught.value)
    assert text.startswith("Multiplicative does not fit this problem:")
    assert all(reason in text for reason in reasons)
    fitting = [s.name for s in known_solvers(problem) if not s.mismatches(problem)]
    assert "TangentPlane" in fitting
    assert text.endswith(f"These fit: {', '.join(fitting)}.")


def test_a_reason_is_given_once() -> None:
    W, H = cp.Variable((7, 2), nonneg=True), cp.Variable((2, 6), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum(cp.huber(V - W @ H))))
    reasons = cn.HALS().mismatches(problem)
    assert len(reasons) == len(set(reasons))


def test_no_solver_at_all_is_an_error_that_names_the_terms() -> None:
    problem = cn.factorize(V, 2, W=[cn.UnitNorm(), cn.Convex(lambda W: W <= 1, name="below one")])
    with pytest.raises(cn.IncompatibleError, match="no solver fits") as caught:
        problem.solve()
    assert "UnitNorm(each='component') on W has no cone form" in str(caught.value)
    assert "Convex(below one)" in str(caught.value)


def test_a_solver_that_leaves_the_range_of_numbers_does_so_without_a_warning() -> None:
    def grow(factors: Factors) -> Factors:
        return {name: (1e200 * X) * 1e200 for name, X in factors.items()}

    result = PROBLEM.solve(Scripted((to_best, grow)), throw=False)
    assert result.status is cn.Status.NOT_FINITE
    np.testing.assert_array_equal(result.W, BEST.W)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_a_solve_of_squares_passes_over_the_data_twice_more_than_its_steps(stored, monkeypatch):
    problem = cn.factorize(stored(np.random.default_rng(3).random((12, 9))), 2)
    values, value = [], cn.Frobenius.value
    monkeypatch.setattr(
        cn.Frobenius, "value", lambda *args: values.append(args[3].any()) or value(*args)
    )
    result = problem.solve(cn.HALS(), stop=3, seed=0)
    assert sum(values) == 2  # the start, and the result once more
    np.testing.assert_allclose(result.relative_error, problem.relative_error(result.factors))
    assert sum(values) > 2
