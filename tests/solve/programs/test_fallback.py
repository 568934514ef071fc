"""When a backend fails the next one answers; when all fail the best iterate is kept."""

import time

import cvxpy as cp
import numpy as np
import pytest
from block_cases import TERMS, at, block_of, draw

import conicnmf as cn
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import until
from conicnmf.solve.programs import backends
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.standard_form import Updated

REAL_SOLVE = cp.Problem.solve


@pytest.fixture
def no_compiled(monkeypatch):
    """Make the compiled program fail."""
    record = InnerSolve("CLARABEL", "NumericalError", 0, 0.0)
    monkeypatch.setattr(Updated, "solve", lambda self, *args, **kwargs: (None, record))


def failing(monkeypatch, how, *names):
    """Make CVXPY's solve fail for the named backends."""

    def solve(problem, solver=None, **options):
        if solver not in names:
            return REAL_SOLVE(problem, solver=solver, **options)
        return how(problem, solver, options)

    monkeypatch.setattr(cp.Problem, "solve", solve)


def raising(problem, solver, options):
    raise cp.SolverError(f"{solver} gave up")


def not_a_number(problem, solver, options):
    REAL_SOLVE(problem, solver=solver, **options)
    for variable in problem.variables():
        variable.save_value(np.full(variable.shape, np.nan))


def answer():
    """Return a block's solution and its objective."""
    V, A = draw(1)
    step = at(BlockProgram(block_of(TERMS["upper bound of samples"], V)), A)
    solution = step.solve()
    return solution, step.value(solution.B)


WANTED = answer()[1]


def test_a_failed_compiled_program_is_followed_by_ecos(no_compiled):
    solution, value = answer()
    assert [r.backend for r in solution.records] == ["CLARABEL", "ECOS"]
    assert value == pytest.approx(WANTED, rel=1e-6)


@pytest.mark.parametrize("how", [raising, not_a_number])
def test_a_failed_backend_is_followed_by_the_next(no_compiled, monkeypatch, how):
    failing(monkeypatch, how, "ECOS")
    solution, value = answer()
    assert [r.backend for r in solution.records] == ["CLARABEL", "ECOS", "CLARABEL"]
    assert value == pytest.approx(WANTED, rel=1e-6)


@pytest.mark.parametrize("how", [raising, not_a_number])
def test_the_last_backend_of_the_chain_still_answers(no_compiled, monkeypatch, how):
    failing(monkeypatch, how, "ECOS", "CLARABEL")
    solution, value = answer()
    assert solution.records[-1].backend == "SCS"
    assert value == pytest.approx(WANTED, rel=1e-4)


def test_the_record_says_what_went_wrong(no_compiled, monkeypatch):
    failing(monkeypatch, raising, "ECOS")
    statuses = [record.status for record in answer()[0].records]
    assert statuses == ["NumericalError", "error: SolverError: ECOS gave up", "optimal"]


def test_an_inaccurate_answer_is_used_when_none_is_better(no_compiled, monkeypatch):
    def inaccurate(problem, solver, options):
        REAL_SOLVE(problem, solver=solver, **options)
        problem._status = cp.OPTIMAL_INACCURATE

    failing(monkeypatch, inaccurate, "ECOS")
    failing_later = cp.Problem.solve
    monkeypatch.setattr(
        cp.Problem,
        "solve",
        lambda problem, solver=None, **options: (
            failing_later(problem, solver=solver, **options)
            if solver == "ECOS"
            else raising(problem, solver, options)
        ),
    )
    solution, value = answer()
    # A first-order method is not asked for what it would only find less exactly.
    assert [(r.backend, r.ok) for r in solution.records[1:]] == [
        ("ECOS", True),
        ("CLARABEL", False),
    ]
    assert value == pytest.approx(WANTED, rel=1e-6)


def test_nothing_answers_when_everything_fails(no_compiled, monkeypatch):
    failing(monkeypatch, raising, "ECOS", "CLARABEL", "SCS")
    V, A = draw(1)
    solution = at(BlockProgram(block_of(TERMS["non-negative"], V)), A).solve()
    assert solution.B is None
    assert not solution.infeasible


def problem():
    V, _ = draw(2)
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.4)])


SOLVER = cn.TangentPlane(engine="conic")


def test_a_solve_survives_a_compiled_program_that_always_fails(no_compiled):
    result = problem().solve(SOLVER, stop=2)
    assert result.status is cn.Status.MAX_ITER
    assert "ECOS" in set(result.history.inner_frame()["backend"])


def test_when_all_backends_fail_the_best_feasible_iterate_is_returned(monkeypatch):
    calls = []
    real = Updated.solve

    def tired(self, *args, **kwargs):
        calls.append(1)
        if len(calls) <= 6:
            return real(self, *args, **kwargs)
        return None, InnerSolve("CLARABEL", "NumericalError", 0, 0.0)

    good = problem().solve(SOLVER, stop=2, seed=0)
    monkeypatch.setattr(Updated, "solve", tired)
    failing(monkeypatch, raising, "ECOS", "CLARABEL", "SCS")
    result = problem().solve(SOLVER, stop=9, seed=0, throw=False)
    assert result.status is cn.Status.BACKEND_FAILED
    assert result.status.kind == "failed"
    assert result.max_violation <= 1e-6
    assert result.objective == pytest.approx(result.history.objective.min(), rel=1e-12)
    assert result.objective <= good.history[1].objective * (1 + 1e-12)


def test_a_failure_is_raised_with_the_best_iterate_in_it(no_compiled, monkeypatch):
    failing(monkeypatch, raising, "ECOS", "CLARABEL", "SCS")
    with pytest.raises(cn.SolveError, match="BACKEND_FAILED") as caught:
        problem().solve(SOLVER)
    result = caught.value.result
    assert np.isfinite(result.W).all()
    assert result.max_violation <= 1e-6


def test_a_time_limit_is_no_failure(monkeypatch):
    result = problem().solve(SOLVER, time_limit=0.0)
    assert result.status is cn.Status.TIME_LIMIT
    assert result.max_violation <= 1e-6


def test_backends_are_told_how_much_time_is_left(monkeypatch):
    seen = {}

    def watch(self, solver=None, **options):
        seen[solver] = options
        return REAL_SOLVE(self, solver=solver, **options)

    monkeypatch.setattr(cp.Problem, "solve", watch)
    x = cp.Variable(2)
    with until(time.perf_counter() + 50.0):
        for name in ("CLARABEL", "SCS"):
            backends.solve_along(cp.Problem(cp.Minimize(cp.sum_squares(x - 1))), x, (name,))
    assert 0 < seen["SCS"]["time_limit_secs"] < seen["CLARABEL"]["time_limit"] < 50.0
