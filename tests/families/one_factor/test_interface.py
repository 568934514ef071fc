"""Projections behind the same comparisons, reports, files and explanations as factorizations."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import (
    ConeAscent,
    Discriminant,
    ProjectionRule,
    ProjectiveNMF,
    ProjectiveRule,
    QuadraticProjection,
)
from conicnmf.families.one_factor.solver import OneFactorSolver
from conicnmf.report import html_report, plot_basis, plot_convergence
from conicnmf.solve.choice import choose, known_solvers

RNG = np.random.default_rng(0)
V, Y = RNG.random((8, 30)), np.arange(30) % 2
PROBLEMS = {
    "quadratic": QuadraticProjection(V @ V.T, 2),
    "normed": QuadraticProjection(V @ V.T, 1, np.diag(1 + RNG.random(8))),
    "projective": ProjectiveNMF(V, 3),
    "discriminant": Discriminant(V, Y),
    "banded": Discriminant(V, Y, constraints=[cn.Sparseness(min=0.6)]),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_one_seed_gives_one_answer_and_the_input_comes_back_unchanged(problem):
    before = V.copy()
    for solver in known_solvers(problem):
        if not solver.mismatches(problem):
            first, second = (
                cn.solve(problem, solver, stop=5, seed=3, throw=False) for _ in range(2)
            )
            np.testing.assert_array_equal(first.W, second.W)
    np.testing.assert_array_equal(V, before)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_chosen_solver_fits_and_is_certified(problem):
    chosen, why = choose(problem)
    assert not chosen.mismatches(problem)
    assert f"{chosen.name} is picked: {why}" in problem.explain()
    result = cn.solve(problem)
    assert result.max_violation < 1e-6
    if chosen.monotone:
        assert result.certificate()


def test_solvers_are_compared_and_misfits_listed():
    problem = PROBLEMS["projective"]
    runs = cn.compare(problem, [ProjectiveRule(), ProjectionRule(), ConeAscent()], [0], stop=20)
    status = dict(zip(runs.table["solver"], runs.table["status"], strict=True))
    assert status["ConeAscent"] == "SKIPPED"
    assert status["ProjectiveRule"] == "MAX_ITER"
    assert cn.multistart(problem, n_starts=2, stop=20).best.W.shape == (8, 3)


def test_results_are_saved_drawn_and_reported(tmp_path):
    result = cn.solve(PROBLEMS["projective"], stop=10)
    again = cn.load(result.save(tmp_path / "projection"))
    np.testing.assert_array_equal(again.W, result.W)
    assert again.certificate(PROBLEMS["projective"]).checks
    page = html_report(result, tmp_path / "page.html", image_shape=(4, 2)).read_text("utf-8")
    assert "ProjectiveNMF: V (8 × 30)" in page
    assert plot_basis(result).axes
    assert plot_convergence(result).axes


def test_notes_of_a_rule_are_in_the_history():
    result = cn.solve(PROBLEMS["normed"], ProjectionRule(), stop=5)
    assert (result.history.to_frame()["wᵀBAw"].dropna() > 0).all()


def test_every_solver_says_what_it_is_and_fits_some_problem():
    signed = QuadraticProjection(np.array([[2.0, -1.0], [-1.0, 3.0]]))
    solvers = [s for s in known_solvers(signed) if isinstance(s, OneFactorSolver)]
    assert len(solvers) >= 8
    for solver in solvers:
        assert type(solver).__doc__
        assert any(not solver.mismatches(p) for p in [*PROBLEMS.values(), signed])


def test_a_start_of_ones_own_is_used():
    W = RNG.random((8, 3))
    at_start = cn.solve(PROBLEMS["projective"], init=W, stop=0).W
    assert cn.measures.matched_cosines(W, at_start).min() == pytest.approx(1.0)
    same = cn.solve(PROBLEMS["projective"], init={"W": W}, stop=0).W
    np.testing.assert_array_equal(same, at_start)
