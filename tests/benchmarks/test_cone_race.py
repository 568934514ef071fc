"""Races against the cone path: both sides state one problem, and rivals judge themselves rightly."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from benchmarks import anyconvex, masks, peers, terms, unmix
from benchmarks.cone_path import ConePath, Squares
from benchmarks.cone_race import ConeRace
from benchmarks.harness import Setup, SkippedError
from benchmarks.masked_rivals import masked_als, masked_mu

DRAWS = {"dense": masks.dense, "sparse": masks.ratings}


@pytest.fixture(params=DRAWS)
def draw(request):
    return DRAWS[request.param](40, 30, 0.5, np.random.default_rng(0))


def test_a_masked_program_ends_where_the_literal_one_does(draw):
    cone = draw.cone
    W, H = cone.variables
    values = dict(zip(cone.variables, draw.start, strict=True))
    V, M = (X.toarray() if sp.issparse(X) else X for X in (draw.V, draw.M))
    for X, product in ((W, W @ values[H]), (H, values[W] @ H)):
        found = cone._program(X, values)(values)
        fit = cp.sum_squares(cp.multiply(M, V - product)) + draw.l2 * cp.sum_squares(X)
        least = cp.Problem(cp.Minimize(fit)).solve(cp.CLARABEL)
        X.save_value(found)
        assert fit.value == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("rival", [masked_mu, masked_als])
def test_rivals_yield_their_objective(draw, rival):
    for _, (W, H, value) in zip(
        range(3), rival(draw.V, draw.M, *draw.start, draw.l2), strict=False
    ):
        assert value == pytest.approx(draw.problem.objective({"W": W, "H": H}), rel=1e-6)


def test_masked_rules_do_not_rise(draw):
    steps = zip(range(20), masked_mu(draw.V, draw.M, *draw.start, draw.l2), strict=False)
    values = [value for _, (_, _, value) in steps]
    assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_a_race_reaches_where_the_cone_path_ends(draw, monkeypatch):
    monkeypatch.setattr("benchmarks.cone_race.ITERATIONS", 3)
    race = ConeRace("case", draw.problem, draw.start, draw.cone, Setup(quick=True))
    row = race.row(0.5, converge=True)
    assert row.ok
    assert "to 3; " in row.note


def test_sides_that_state_different_problems_are_found():
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
    V = np.ones((6, 5))
    start = np.ones((6, 2)), np.ones((2, 5))
    cone = ConePath([W, H], [Squares(V, [(W, H)], 2.0)])
    with pytest.raises(RuntimeError, match="at the start"):
        ConeRace("case", cn.factorize(V, 2), start, cone, Setup(quick=True))


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_unmixing_is_one_problem_for_both_sides(weight, monkeypatch):
    monkeypatch.setattr("benchmarks.cone_race.ITERATIONS", 2)
    rng = np.random.default_rng(0)
    V = rng.random((12, 4)) @ rng.dirichlet(np.ones(4), 30).T
    race = unmix.race("case", V, weight, rng, Setup(quick=True))
    assert race.row(0.5, converge=True).ok


@pytest.mark.parametrize("name", terms.CASES)
def test_terms_are_one_problem_for_both_sides(name, monkeypatch):
    monkeypatch.setattr("benchmarks.cone_race.ITERATIONS", 2)
    drawn = terms.draw(20, 30, 3, 0)
    row = terms.against_cone(name, terms.CASES[name], [drawn], 0.5, Setup(quick=True))
    assert row.target
    assert "stationary" in row.note or "above the goal" in row.note


def test_a_peer_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    for name, peer in peers.PEERS.items():
        with pytest.raises(SkippedError, match="is not installed; pip install"):
            next(peers.rows(name, peer, terms.draw(20, 30, 3, 0), Setup(quick=True)))


def test_a_peer_sets_the_goal():
    def halve(V, start, _):
        return start[0], 0.7 * start[1]

    peer = cn.NormBall(100.0), halve
    (row,) = peers.rows("case", peer, terms.draw(20, 30, 3, 0), Setup(quick=True))
    assert "of ours" in row.note


@pytest.mark.parametrize("state", [anyconvex.masked, anyconvex.counts])
def test_a_constraint_of_ones_own_is_one_problem_for_both_sides(state, monkeypatch):
    monkeypatch.setattr("benchmarks.cone_race.ITERATIONS", 2)
    monkeypatch.setattr("benchmarks.anyconvex.RANK", 2)
    race = state(12, 10, np.random.default_rng(0), Setup(quick=True))
    assert "2" in race.row(0.5).note


def test_a_rival_whose_solver_fails_ends_where_it_was(draw, monkeypatch):
    monkeypatch.setattr("benchmarks.cone_race.ITERATIONS", 4)
    cone, runs = draw.cone, []

    def failing(values, iterations):
        if len(runs) == 2:
            raise cp.SolverError("no")
        runs.append(type(cone).run(cone, values, iterations))
        return runs[-1]

    monkeypatch.setattr(cone, "run", failing)
    race = ConeRace("case", draw.problem, draw.start, cone, Setup(quick=True))
    assert race.trace.objective == [run.objective[0] for run in runs]
    with pytest.raises(SkippedError, match="fails at once"):
        ConeRace("case", draw.problem, draw.start, cone, Setup(quick=True))
