from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from problems import low_rank, sparse_problem

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.solve.methods.tangent_plane import descend_toward
from conicnmf.solve.programs.native import NativeProgram
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step


def literal_minimum(V, H, constraints):
    """The W-step as the textbook states it: the residual of the size of the data."""
    W = cp.Variable((V.shape[0], H.shape[0]))
    program = cp.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [W >= 0, *constraints(W)])
    program.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return program.value


@pytest.mark.parametrize("program", [BlockProgram, NativeProgram])
@pytest.mark.parametrize("top", [1.0, 0.5])
def test_a_convex_step_is_that_of_the_unreduced_model(program, top):
    problem = sparse_problem(s=0.0, top=top)
    H = np.random.default_rng(1).random(problem.shapes["H"])
    block = problem.blocks[0]
    step = program(block).at(block.given({"H": H}))
    B = step.solve().B
    m = problem.V.shape[0]
    c = np.sqrt(m) - (np.sqrt(m) - 1) * top
    cones = (
        (lambda W: [c * cp.norm(W, 2, axis=0) <= cp.sum(W, axis=0)]) if top < 1 else (lambda W: [])
    )
    expected = literal_minimum(problem.V, H, cones)
    assert step.value(B) == pytest.approx(expected, rel=1e-6)
    assert block.violation(B) < 1e-6


@pytest.mark.parametrize("s", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("top", [1.0, 0.95])
def test_native_and_conic_engines_take_the_same_steps(s, top):
    problem = sparse_problem(s=s, top=top)
    block = problem.blocks[0]
    rng = np.random.default_rng(2)
    A = rng.random(problem.shapes["H"][::-1])
    start = block.projection(rng.random(block.shape))
    values = []
    for program in (BlockProgram(block), NativeProgram(block, rtol=1e-9)):
        step = program.at(program.block.given({"H": A.T}))
        outcome = tangent_step(step, start, TangentLoop(rounds=3, rtol=0.0))
        assert block.violation(outcome.B) < 1e-6
        values.append(step.value(outcome.B))
    assert values[0] == pytest.approx(values[1], rel=1e-5)


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("engine", ["native", "conic"])
def test_every_component_is_sparse_enough(s, engine):
    result = sparse_problem(s=s).solve(cn.TangentPlane(engine=engine))
    assert cn.sparseness(result.W, axis=0).min() >= s - 1e-6
    assert result.W.min() >= 0
    assert result.status.kind != "failed"


def test_dense_starts_do_not_collapse():
    problem = sparse_problem(s=0.9)
    ones = tuple(np.ones(shape) for shape in problem.shapes.values())
    result = problem.solve(cn.TangentPlane(), init=ones)
    assert result.W.any(axis=0).all()
    assert result.max_violation < 1e-6


@pytest.mark.parametrize("each", ["component", "sample"])
def test_bounds_on_rows_and_columns_of_h(each):
    problem = cn.factorize(
        low_rank(), 4, H=[cn.NonNegative(), cn.Sparseness(min=0.3, max=0.8, each=each)]
    )
    result = problem.solve(cn.TangentPlane(), stop=15)
    values = cn.sparseness(result.H, axis=1 if each == "component" else 0)
    assert values.min() >= 0.3 - 1e-6
    assert values.max() <= 0.8 + 1e-6


def test_prescribed_sparseness():
    result = sparse_problem(s=0.55, top=0.55).solve(cn.TangentPlane())
    np.testing.assert_allclose(cn.sparseness(result.W, axis=0), 0.55, atol=1e-6)


@pytest.mark.parametrize("backend", [None, "ECOS", "SCS"])
def test_upper_bounds_by_cuts_reach_the_cone_solution(backend):
    problem = sparse_problem(s=0.2, top=0.3, n=12)
    cone = problem.solve(cn.TangentPlane(engine="conic"), stop=4)
    cuts = problem.solve(cn.TangentPlane(engine="conic", upper="cuts", backend=backend), stop=4)
    assert cuts.max_violation < 1e-6
    assert cuts.objective == pytest.approx(cone.objective, rel=2e-3)


def test_the_history_names_every_backend_call():
    result = sparse_problem().solve(cn.TangentPlane(engine="conic"), stop=2)
    calls = result.history.inner_frame()
    assert set(calls["backend"]) == {"CLARABEL"}
    assert (calls["seconds"] > 0).all()
    assert (calls["iterations"] > 0).all()


def test_the_paper_s_relaxed_form_trades_error_for_sparseness():
    V = low_rank()
    free = cn.factorize(V, 3).solve(cn.TangentPlane())
    rewarded = cn.factorize(V, 3, W=[cn.NonNegative(), cn.SparsenessReward(0.1 * free.objective)])
    result = rewarded.solve(cn.TangentPlane())
    assert cn.sparseness(result.W, axis=0).mean() > cn.sparseness(free.W, axis=0).mean()
    assert result.relative_error >= 0.98 * free.relative_error  # free is a local minimum too


def test_labels_draw_samples_of_a_class_together():
    rng = np.random.default_rng(0)
    V = rng.random((12, 10))
    y = np.repeat([0, 1], 5)
    stated = [cn.NonNegative(), cn.Labels(y, radius=0.1)]
    result = cn.factorize(V, 3, H=stated).solve(cn.TangentPlane(), stop=10)
    for label in (0, 1):
        columns = result.H[:, y == label]
        mean = columns.mean(axis=1, keepdims=True)
        assert np.linalg.norm(columns - mean, axis=0).max() <= 0.1 * mean.sum() * (1 + 1e-5)


def test_labels_and_sparseness_together():
    V = low_rank(n=12)
    stated = [cn.NonNegative(), cn.Labels(np.repeat([0, 1, -1], 4), radius=0.5)]
    problem = cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)], H=stated)
    for solver in (cn.TangentPlane(), cn.SparsityMaximization()):
        assert problem.solve(solver, stop=6).max_violation < 1e-6


def test_labels_on_a_signed_factor_are_refused():
    problem = cn.factorize(low_rank(n=4), 2, H=[cn.Labels([0, 0, 1, 1], radius=0.5)])
    with pytest.raises(cn.IncompatibleError, match="only together with NonNegative"):
        problem.solve(cn.TangentPlane())


def test_signed_factors_with_a_band_on_magnitudes():
    V = cn.datasets.three_factors(60, seed=0).V
    V = V / np.linalg.norm(V)
    problem = cn.factorize(V, 3, W=[cn.Sparseness(min=0.5)], H=[])
    result = problem.solve(cn.TangentPlane(), stop=15)
    assert result.W.min() < 0
    assert cn.sparseness(result.W, axis=0).min() >= 0.5 - 1e-6
    assert result.relative_error < 0.05


def test_a_cap_on_the_loss_holds_where_penalties_would_have_it_at_zero():
    V = np.random.default_rng(0).random((8, 5))
    W = [cn.NonNegative(), cn.TotalVariation(1e3)]
    problem = cn.factorize(V, 1, W=W, H=[cn.NonNegative(), cn.L2(1e2)], loss=cn.Frobenius(cap=3.0))
    result = problem.solve(stop=10)
    assert ((V - result.W @ result.H) ** 2).sum() <= 3.0 * (1 + 1e-6)
    assert result.max_violation <= 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_a_cap_is_met_from_above_beside_planes_that_leave_no_room_below_it(seed):
    rng = np.random.default_rng(seed)
    W, H = rng.random((8, 2)), cn.Sparseness(0.7, 0.7).project(rng.random((2, 10)))
    H_terms = [cn.NonNegative(), cn.Sparseness(0.7, 0.7)]
    problem = cn.factorize(W @ H, 2, H=H_terms, loss=cn.Frobenius(cap=0.02 * ((W @ H) ** 2).sum()))
    result = problem.solve(seed=seed, throw=False, stop=60)
    assert result.status.name != "BACKEND_FAILED", result.remarks
    first, last = (own.violation for own in (result.history[0], result.history[-1]))
    assert result.max_violation <= 1e-6 or last < first / 3


def test_a_cap_on_the_loss_holds():
    V = low_rank()
    free = cn.factorize(V, 3).solve(cn.HALS())
    cap = 1.5 * free.objective
    problem = cn.factorize(V, 3, loss=cn.Frobenius(cap=cap), H=[cn.NonNegative(), cn.L1(10.0)])
    result = problem.solve(cn.TangentPlane(), stop=20)
    assert result.relative_error * np.sum(V**2) <= cap * (1 + 1e-6)
    uncapped = cn.factorize(V, 3, H=[cn.NonNegative(), cn.L1(10.0)]).solve(cn.HALS())
    assert uncapped.relative_error * np.sum(V**2) > cap


@pytest.mark.parametrize("loss", [None, cn.Huber(0.5)])
def test_signs_are_left_where_that_lowers_the_objective(loss):
    """Under an upper bound on sparseness no entry is small enough to change its sign by itself."""
    rng = np.random.default_rng(2)
    V = rng.random((4, 1)) @ np.sign(rng.standard_normal((1, 9)))
    W, H = [cn.NonNegative(), cn.NormBall(0.5)], [cn.Sparseness(max=0.1)]
    wrong = {"W": np.full((4, 1), 0.2), "H": np.ones((1, 9))}
    result = cn.factorize(V, 1, loss=loss, W=W, H=H).solve(cn.TangentPlane(), init=wrong)
    assert result.status.name == "CONVERGED"
    assert result.objective < 1e-9


def test_the_way_between_points_of_a_set_that_is_not_convex_is_bent_into_it():
    """The end is no place to go to, for a component has no length there."""
    rng = np.random.default_rng(0)
    own = [cn.NonNegative(), cn.Sparseness(0.5, 0.5)]
    block, held = fitted_block("H", rng.random((6, 5)), rng.random((6, 2)), cn.Frobenius(), own)
    B = block.projection(5 * rng.random((2, 5)))
    end = np.vstack([np.zeros(5), block.projection(rng.random((2, 5)))[1]])
    assert held.objective(end) < held.objective(B)
    found = descend_toward(held, B, end)
    assert held.objective(found) < held.objective(B)
    assert block.violation(found) <= 1e-9
