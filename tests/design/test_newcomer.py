"""A constraint in one short file, with one line that makes it known, is used wherever it can be."""

from __future__ import annotations

from pathlib import Path

import newcomer
import numpy as np
import pytest
from newcomer import Budget

import conicnmf as cn
from conicnmf.extend import TERMS
from conicnmf.solve.choice import fitting
from conicnmf.testing import check_constraint

V = np.random.default_rng(3).random((9, 8))
SOLVERS = [
    cn.HALS(),
    cn.TangentPlane(),
    cn.TangentPlane(backend="CLARABEL"),
    cn.SparsityMaximization(),
    cn.ProjectedGradient(),
]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Make it known for one test."""
    monkeypatch.setattr(TERMS, "_known", dict(TERMS._known))
    TERMS.add("Budget", Budget)  # the one line


def stated(factor, each="component", others=()):
    return cn.factorize(V, 3, **{factor: [*others, Budget(total=1.5, each=each)]})


def test_its_file_is_short():
    assert len(Path(newcomer.__file__).read_text().splitlines()) < 80


def test_it_is_what_it_says_it_is():
    check_constraint(Budget)


def test_it_is_known_by_name():
    assert (Budget(),) == cn.factorize(V, 3, H=["budget"]).H
    with pytest.raises(cn.InputError, match="Budget"):
        cn.factorize(V, 3, H=["budgets"])


@pytest.mark.parametrize("factor", ["W", "H"])
def test_explain_finds_every_solver_that_its_abilities_allow(factor):
    alone = {solver.name for solver in fitting(stated(factor))}
    simplex = {solver.name for solver in fitting(cn.factorize(V, 3, **{factor: [cn.Simplex()]}))}
    assert alone == simplex  # ours with the same abilities
    assert {solver.name for solver in SOLVERS} <= alone
    assert f"{factor}: Budget(total=1.5, each='component')" in stated(factor).explain()


def test_components_that_hang_together_are_told_as_the_reason():
    reasons = cn.HALS().mismatches(stated("H", each="sample"))
    assert reasons == ["Budget(total=1.5, each='sample') on H links components"]


@pytest.mark.parametrize("factor", ["W", "H"])
@pytest.mark.parametrize("each", ["component", "sample"])
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_solvers_reach_the_same_point_and_it_is_certified(solver, factor, each):
    problem = stated(factor, each)
    if solver.name == "HALS" and each == "sample":
        assert solver.mismatches(problem)
        return
    result = problem.solve(solver, seed=0, stop=cn.MaxIter(300) | cn.RelDecrease(1e-8))
    assert result.max_violation < 1e-6
    certificate = result.certificate()
    assert certificate.ok, certificate
    assert any(f"{factor}: Budget(" in check.name + check.note for check in certificate.checks)
    best = problem.solve("ProjectedGradient", seed=0, stop=cn.MaxIter(2000))
    assert result.objective == pytest.approx(best.objective, rel=0.05)


@pytest.mark.parametrize("factor", ["W", "H"])
def test_it_stands_beside_terms_of_ours(factor):
    beside = stated(factor, others=[cn.NonNegative(), cn.L1(0.05)])
    alone = stated(factor, others=[cn.L1(0.05)])
    assert {s.name for s in fitting(beside)} == {s.name for s in fitting(alone)}
    here, there = (problem.solve("HALS", stop=20) for problem in (beside, alone))
    assert here.objective == pytest.approx(there.objective, rel=1e-9)


def test_comparisons_tell_where_it_fits():
    runs = cn.compare({"budget": stated("H")}, ["HALS", "ANLS"], [0], stop=3).table
    status = dict(zip(runs["solver"], runs["status"], strict=True))
    assert status["HALS"] == "MAX_ITER"
    assert status["ANLS"] not in ("MAX_ITER", "CONVERGED")


def test_loose_budgets_change_nothing():
    free = cn.factorize(V, 3).solve("HALS", stop=30)
    loose = cn.factorize(V, 3, H=[Budget(total=1e6)]).solve("HALS", stop=30)
    assert loose.objective == pytest.approx(free.objective, rel=1e-9)
