"""The frozen rival: reduced programs equal the literal ones, bounds by planes, and both races run."""

import cvxpy as cp
import numpy as np
import pytest

from benchmarks import blocks, rivals
from benchmarks.cone_path import ConePath, Sparse, Squares
from benchmarks.harness import Setup


@pytest.mark.parametrize("case", blocks.CASES)
def test_a_reduced_program_ends_where_the_literal_one_does(case):
    model = blocks.CASES[case](12, 15, np.random.default_rng(0))
    for X in model.variables:
        reached = []
        for path in (
            ConePath(model.variables, model.squares),
            ConePath(model.variables, rest=model.objective.expr),
        ):
            values = dict(model.start)
            values[X] = path._program(X, values)(values)
            reached.append(path.objective(values))
        assert reached[0] == pytest.approx(reached[1], rel=1e-6)


def test_the_objective_falls_and_time_is_kept():
    model = blocks.CASES["three factors, r=8, 6"](12, 15, np.random.default_rng(0))
    trace = ConePath(model.variables, model.squares).run(model.start, 4)
    assert np.all(np.diff(trace.objective) <= 1e-6 * trace.objective[0])
    assert np.all(np.diff(trace.seconds) > 0)


def test_a_program_that_breaks_the_rules_for_parameters_is_built_anew():
    rng = np.random.default_rng(0)
    model = blocks.CASES["three factors, r=8, 6"](12, 15, rng)
    W, S, H = model.variables
    P, Q = cp.Parameter(W.shape), cp.Parameter(H.shape)
    assert not cp.Problem(cp.Minimize(cp.sum_squares(P @ S @ Q))).is_dcp(dpp=True)
    path = ConePath(model.variables, rest=model.objective.expr)
    program = path._program(S, model.start)
    for start in (model.start, {X: rng.random(X.shape) for X in model.variables}):
        values = dict(start)
        values[S] = program(values)  # the second time with other numbers
        held = cp.Problem(cp.Minimize(cp.sum_squares(model.squares[0].V - start[W] @ S @ start[H])))
        assert path.objective(values) == pytest.approx(held.solve(cp.CLARABEL), rel=1e-6)


def test_planes_keep_a_bound_on_sparseness():
    rng = np.random.default_rng(0)
    V = rng.random((16, 10))
    W, H = cp.Variable((16, 2), nonneg=True), cp.Variable((2, 10), nonneg=True)
    sparse = np.zeros((16, 2))
    sparse[:2, 0] = sparse[5:8, 1] = 1.0
    path = ConePath([W, H], [Squares(V, [(W, H)])], sparse=[Sparse(W, 0.6)])
    found = path.run({W: sparse, H: rng.random((2, 10))}, 3).values[W]
    ratio = found.sum(axis=0) / np.linalg.norm(found, axis=0)
    assert np.all((4 - ratio) / 3 >= 0.6 - 1e-5)


def test_a_race_of_blocks_has_a_row_for_the_default_and_for_the_best(monkeypatch):
    monkeypatch.setattr(blocks, "ITERATIONS", 2)
    monkeypatch.setattr(blocks, "SOLVERS", {"HALS": blocks.cn.HALS})
    model = blocks.CASES["two coupled views, r=8"](12, 15, np.random.default_rng(0))
    default, best = blocks.rows("coupled", [model], Setup(quick=True), seconds=0.2)
    assert default.case == "coupled, default"
    assert best.case == "coupled, best, HALS"
    assert default.ok is not None
    assert "ends by itself" in default.note


def test_a_rival_that_is_not_there_is_skipped(monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda _: None)
    model = rivals.quick_start(3)
    with pytest.raises(rivals.SkippedError, match="dbcp is not installed"):
        rivals._dbcp(model)


def test_a_rival_sets_the_goal():
    def halve(model):
        model.x.save_value(0.9 * model.x.value)
        return "converged"

    (row,) = rivals._race("case", lambda: rivals.quick_start(3), halve, Setup(quick=True))
    assert "rival: converged" in row.note
    assert "HALS" in row.note
    assert np.isfinite(row.ratio)


@pytest.mark.parametrize(
    "model",
    [
        rivals.quick_start(5),
        rivals.dictionary(0.1),
        rivals.clusters(20),
        rivals.bounded_clusters(15),
        rivals.bilinear_logistic(60),
        rivals.blind_deconvolution(),
        rivals.hidden_states(20),
        rivals.sparse_nmf(20, 10, 2, 0.3),
    ],
)
def test_every_example_can_be_stated(model):
    assert rivals._stated(model).variables
    assert np.isfinite(model.objective.value)
