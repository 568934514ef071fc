"""A certificate passes right answers, and every kind of wrong one planted here fails it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import conicnmf as cn


@pytest.fixture(scope="module")
def problem():
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])


@pytest.fixture(scope="module")
def result(problem):
    return problem.solve(cn.HALS(), stop=cn.MaxIter(2000) | cn.RelDecrease(1e-9))


def failed(certificate):
    return {check.name.split(",")[0] for check in certificate.checks if not check.ok}


def planted(result, **factors):
    return replace(result, factors={**result.factors, **factors})


def test_a_converged_result_is_certified(result):
    certificate = result.certificate()
    assert certificate.ok, str(certificate)
    assert str(certificate).endswith("\ncertified")


@pytest.mark.parametrize("solver", [cn.TangentPlane(), cn.SparsityMaximization()], ids=str)
def test_so_are_those_of_the_cone_drivers(problem, solver):
    best = problem.solve(solver, stop=cn.MaxIter(300) | cn.RelDecrease(1e-8))
    assert best.certificate().ok, str(best.certificate())


def test_dense_components_fail(result):
    wrong = planted(result, W=np.ones_like(result.W))
    assert "feasible" in failed(wrong.certificate())


def test_negative_entries_fail(result):
    assert "feasible" in failed(planted(result, W=result.W - 0.1).certificate())


def test_a_point_that_can_still_fall_fails(problem, result):
    early = problem.solve(cn.HALS(), stop=1)
    assert "stationary" in failed(early.certificate())


def test_a_false_objective_fails(result):
    assert "objective as reported" in failed(
        replace(result, objective=0.9 * result.objective).certificate()
    )


def test_a_rising_trace_of_a_monotone_solver_fails(result):
    trace = result.history.iterations
    bent = [*trace[:-1], replace(trace[-2], objective=2 * trace[0].objective), trace[-1]]
    wrong = replace(result, history=cn.History(bent))
    assert "trace never rises" in failed(wrong.certificate())


def test_a_worse_iterate_than_the_best_fails(result):
    trace = result.history.iterations
    better = replace(trace[-1], objective=0.5 * result.objective, violation=0.0)
    wrong = replace(result, history=cn.History([*trace, better]))
    assert "best feasible iterate kept" in failed(wrong.certificate())


def test_dead_and_duplicate_components_fail(result):
    W = result.W.copy()
    W[:, 0] = 0.0
    assert "dead components" in failed(planted(result, W=W).certificate())
    W = result.W.copy()
    W[:, 1] = 3 * W[:, 0]
    assert "duplicate components" in failed(planted(result, W=W).certificate())


def test_a_loaded_result_needs_its_problem(result, problem, tmp_path):
    again = cn.load(result.save(tmp_path / "saved"))
    with pytest.raises(cn.InputError, match="pass it"):
        again.certificate()
    assert again.certificate(problem).ok


def test_the_wrong_problem_is_refused(result):
    with pytest.raises(cn.InputError, match="shape"):
        result.certificate(cn.factorize(np.ones((3, 3)), 1))


@pytest.mark.parametrize("solver", [cn.HALS(), cn.ANLS(), cn.TangentPlane()], ids=lambda s: s.name)
def test_an_exact_fit_is_certified_although_only_rounding_is_left(solver):
    rng = np.random.default_rng(0)
    V = rng.random((12, 2)) @ rng.random((2, 10))
    result = cn.factorize(V, 2).solve(solver, stop=cn.MaxIter(3000) | cn.RelDecrease(1e-12))
    assert result.relative_error < 1e-12
    assert result.certificate(), result.certificate()
