"""Splitting reaches what CVXPY finds in a block, stays feasible, never rises, and serves losses."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import Context, Penalty, Quadratic
from conicnmf.model.blocks import fitted_block
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.copies import find_copies
from conicnmf.solve.programs.program import BlockProgram, Solution
from conicnmf.solve.programs.prox_program import ProxProgram
from conicnmf.solve.programs.pulled import _PulledColumns, _PulledQuadratic
from conicnmf.solve.starts.nearest import nearest
from conicnmf.testing import check_solver

PLUS = cn.NonNegative()
ROWS, COLUMNS = 3, 8


def steps(X):
    return cp.abs(cp.diff(X, axis=1)) <= 0.2


def first(X):
    return cp.sum(X[0, :]) <= 1.0


def robust(X):
    return 0.3 * cp.sum(cp.huber(X))


CONVEX = {
    "two penalties": [PLUS, cn.TotalVariation(0.3), cn.Smooth(0.2)],
    "three penalties": [PLUS, cn.TotalVariation(0.1), cn.L21(0.1), cn.Nuclear(0.1)],
    "nuclear": [PLUS, cn.Nuclear(0.5)],
    "signed nuclear": [cn.Nuclear(0.5)],
    "features": [PLUS, cn.L21(0.3, each="sample")],
    "whole sum": [PLUS, cn.FactorSum(3.0)],
    "signed whole sum": [cn.FactorSum(3.0, equal=True)],
    "whole norm": [PLUS, cn.FactorNorm(1.0), cn.Smooth(0.1)],
    "monotone and short": [PLUS, cn.Monotone(), cn.NormBall(0.8)],
    "simplex and smooth": [cn.Simplex(each="sample"), cn.Smooth(0.2)],
    "box and variation": [cn.Box(0.1, 0.5), cn.TotalVariation(0.2)],
    "own constraint": [PLUS, cn.Convex(steps)],
    "own constraint on few entries": [PLUS, cn.Convex(first), cn.Smooth(0.1)],
    "own penalty": [PLUS, cn.ConvexPenalty(robust)],
    "both own": [PLUS, cn.Convex(steps), cn.ConvexPenalty(robust), cn.L1(0.1)],
}
OTHERS = {
    "unimodal and short": [PLUS, cn.Unimodal(), cn.NormBall(0.8)],
    "orthogonal": [cn.Orthogonal()],
    "few components a sample": [PLUS, cn.Cardinality(2, each="sample")],
    "sparse samples": [PLUS, cn.Sparseness(min=0.3, each="sample")],
    "volume and variation": [PLUS, cn.MinimumVolume(0.2), cn.TotalVariation(0.1), cn.Smooth(0.1)],
}
CASES = CONVEX | OTHERS


@pytest.mark.parametrize("name", CONVEX)
def test_a_convex_block_ends_where_cvxpy_does(name):
    solver = cn.Splitting()
    for seed in range(2):
        rng = np.random.default_rng(seed)
        Y, A = rng.random((9, COLUMNS)), rng.random((9, ROWS))
        block, held = fitted_block("H", Y, A, cn.Frobenius(), CONVEX[name])
        X = cp.Variable(block.shape)
        cost = cp.sum_squares(Y - A @ X)
        cost += sum(own.expression(X) for own in CONVEX[name] if isinstance(own, Penalty))
        kept = [part for own in block.constraints for part in own.cone(X)]
        wanted = cp.Problem(cp.Minimize(cost), kept).solve(solver="CLARABEL")
        B, memo = nearest(block, rng.random(block.shape)), solver.prepare(block, Context())
        values = [held.objective(B)]
        for _ in range(60):
            update = solver.update(held, B, memo)
            B, memo = update.B, update.memo
            values.append(held.objective(B))
        assert np.diff(values).max() <= 1e-10
        assert block.violation(B) <= 1e-6
        assert values[-1] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_objective_never_rises_and_the_answer_is_feasible(name):
    for seed in range(3):
        V = np.random.default_rng(seed).random((7, COLUMNS))
        problem = cn.factorize(V, ROWS, W=[PLUS, cn.L2(0.1)], H=CASES[name])
        result = problem.solve(cn.Splitting(), stop=25, seed=seed)
        assert np.diff(result.history.objective).max() <= 1e-9 * result.history.objective[0]
        assert result.max_violation <= 1e-6
        assert result.objective < result.history.objective[0]
        assert result.objective == pytest.approx(problem.restated(result.factors), rel=1e-9)


@pytest.mark.parametrize("name", CONVEX)
def test_a_cone_program_finds_nothing_better_in_a_block(name):
    V = np.random.default_rng(5).random((7, COLUMNS))
    problem = cn.factorize(V, ROWS, W=[PLUS, cn.L2(0.1)], H=CONVEX[name])
    found = problem.solve(cn.Splitting(), stop=400)
    again = problem.solve(cn.TangentPlane(engine="conic"), init=(found.W, found.H), stop=1)
    assert again.objective >= found.objective * (1 - 1e-4)


@pytest.mark.parametrize("loss", ["kl", "huber", cn.WeightedFrobenius(np.eye(7, COLUMNS) < 1)])
@pytest.mark.parametrize("name", ["two penalties", "own constraint on few entries"])
def test_every_loss_with_a_majorizer_is_served(name, loss):
    V = 0.1 + np.random.default_rng(5).random((7, COLUMNS))
    problem = cn.factorize(V, ROWS, loss=loss, W=[PLUS, cn.L2(0.1)], H=CONVEX[name])
    result = problem.solve(cn.Splitting(), stop=150)
    assert np.diff(result.history.objective).max() <= 1e-9 * result.history.objective[0]
    assert result.max_violation <= 1e-6
    conic = problem.solve(cn.TangentPlane(), init=(result.W, result.H), stop=5)
    assert conic.objective >= result.objective * (1 - 0.03)


@pytest.mark.parametrize(
    "loss", ["kl", cn.BetaDivergence(1.5), cn.WeightedFrobenius(np.eye(9, COLUMNS) < 1)], ids=str
)
@pytest.mark.parametrize("name", ["two penalties", "own constraint", "simplex and smooth"])
def test_a_block_of_any_convex_loss_ends_where_cvxpy_does(name, loss):
    rng = np.random.default_rng(3)
    V, A = rng.random((9, COLUMNS)), 0.1 + rng.random((9, ROWS))
    problem = cn.factorize(V, ROWS, loss=loss, W=[cn.Fixed(A > 0, A)], H=CONVEX[name])
    block = problem.blocks[1]
    X = cp.Variable(block.shape)
    cost = problem.fits[0].loss.expression(V, A, X)
    cost += sum(own.expression(X) for own in block.penalties)
    kept = [part for own in block.constraints for part in own.cone(X)]
    wanted = cp.Problem(cp.Minimize(cost), kept).solve(solver="CLARABEL")
    start = A, nearest(block, rng.random(block.shape))
    found = problem.solve(cn.Splitting(), init=start, stop=cn.RelDecrease(1e-9) | 300)
    assert found.objective == pytest.approx(wanted, rel=1e-6)


def test_smooth_spectra_are_not_left_far_above_what_tangent_planes_find():
    rng = np.random.default_rng(77)
    W, H = 0.01 + rng.random((30, 3)), 0.01 + rng.gamma(0.5, 1.0, (3, 40))
    V = (W @ H) * rng.gamma(1.0, 1.0, (30, 40)) + 1e-6
    terms = {"W": [PLUS], "H": [PLUS, cn.Smooth(1.0)]}
    problem = cn.factorize(V, 3, loss="itakura-saito", **terms)
    planes = problem.solve(cn.TangentPlane(), stop=60, seed=1)
    assert problem.solve(cn.Splitting(), seed=1).objective <= 1.005 * planes.objective


def test_looking_ahead_out_of_the_domain_of_a_divergence_does_not_end_a_solve():
    rng = np.random.default_rng(78)
    V = (rng.random((30, 4)) * (rng.random((30, 4)) < 0.4)) @ rng.random((4, 40)) + 1e-3
    terms = {"W": [PLUS, cn.TotalVariation(0.5)], "H": [PLUS, cn.L2(0.1)]}
    problem = cn.factorize(V, 4, loss="kl", **terms)
    bounds = problem.solve(cn.TangentPlane(), stop=60, seed=1)
    assert problem.solve(cn.Splitting(), seed=1).objective <= 1.01 * bounds.objective


def test_terms_are_divided_into_few_groups():
    def count(terms):
        problem = cn.factorize(np.ones((5, COLUMNS)), ROWS, H=terms)
        return len(find_copies(problem.blocks[1]).steps)

    assert count([PLUS, cn.TotalVariation(1.0)]) == 1
    assert count([PLUS, cn.TotalVariation(1.0), cn.Smooth(1.0)]) == 2
    assert count([PLUS, cn.Nuclear(1.0)]) == 2
    assert count([PLUS, cn.Monotone(), cn.NormBall()]) == 2
    assert count([PLUS, cn.Convex(steps), cn.Smooth(1.0)]) == 2
    assert count([PLUS, cn.ConvexPenalty(robust)]) == 2


def test_the_program_holds_the_entries_that_its_terms_touch_and_no_others():
    touched = ProxProgram((4, 50), [PLUS, cn.Convex(first)])
    assert touched._A.shape[1] == 50
    B = np.random.default_rng(0).standard_normal((4, 50))
    found, records = touched.solve(B, 1.0)
    np.testing.assert_array_equal(found[1:], np.maximum(B[1:], 0))
    X = cp.Variable((4, 50), nonneg=True)
    cp.Problem(cp.Minimize(cp.sum_squares(X - B)), [first(X)]).solve(solver="CLARABEL")
    np.testing.assert_allclose(found, X.value, atol=1e-5)
    assert [record.backend for record in records] == ["CLARABEL"]


@pytest.mark.parametrize("step", [0.01, 1.0, 30.0])
def test_the_program_is_right_for_every_step_and_keeps_fixed_entries(step):
    mask = np.eye(ROWS, COLUMNS, dtype=bool)
    held = [cn.Fixed(mask, 0.3), cn.Box(-1, 2), cn.Convex(steps)]
    program = ProxProgram((ROWS, COLUMNS), held, [cn.ConvexPenalty(robust)])
    rng = np.random.default_rng(1)
    for scale in (step, 2 * step, 2 * step):
        B = rng.standard_normal((ROWS, COLUMNS))
        found, _ = program.solve(B, scale)
        X = cp.Variable((ROWS, COLUMNS))
        kept = [X[mask] == 0.3, X >= -1, X <= 2, steps(X)]
        cost = scale * robust(X) + cp.sum_squares(X - B) / 2
        cp.Problem(cp.Minimize(cost), kept).solve(solver="CLARABEL")
        np.testing.assert_allclose(found, X.value, atol=1e-4)


@pytest.mark.parametrize("loss", ["kl", "frobenius"])
def test_a_program_that_fails_ends_the_solve_with_that_status(loss, monkeypatch):
    V = np.random.default_rng(5).random((7, COLUMNS))
    problem = cn.factorize(V, ROWS, H=[PLUS, cn.Convex(steps)], loss=loss)
    failed = InnerSolve("CLARABEL", "failed", 0, 0.0)
    monkeypatch.setattr(ProxProgram, "solve", lambda *_: (None, []))
    monkeypatch.setattr(BlockProgram, "solve", lambda *_: Solution(None, [failed]))
    result = problem.solve(cn.Splitting(), stop=3, throw=False)
    assert result.status is cn.Status.BACKEND_FAILED


def test_what_cannot_be_split_is_named():
    V = np.random.default_rng(5).random((7, COLUMNS))
    problem = cn.factorize(V, ROWS, H=[PLUS, cn.Unimodal(), cn.Convex(steps)])
    assert any("Unimodal" in reason for reason in cn.Splitting().mismatches(problem))
    rewarded = cn.factorize(V, ROWS, H=[PLUS, cn.SparsenessReward(0.1)])
    assert any("neither a prox" in reason for reason in cn.Splitting().mismatches(rewarded))


@pytest.mark.parametrize("terms", [[PLUS, cn.Nuclear(0.1)], [PLUS, cn.Cardinality(1, "sample")]])
def test_closed_forms_are_preferred_to_cone_programs(terms):
    V = np.random.default_rng(5).random((7, COLUMNS))
    assert "Splitting is picked" in cn.factorize(V, ROWS, H=terms).explain()


def test_a_solve_goes_on_from_a_checkpoint_to_the_last_bit(tmp_path):
    V = np.random.default_rng(5).random((7, COLUMNS))
    problem = cn.factorize(V, ROWS, H=CONVEX["two penalties"])
    whole = problem.solve(cn.Splitting(), stop=12)
    problem.solve(cn.Splitting(), stop=5, checkpoint=tmp_path / "run")
    longer = problem.solve(cn.Splitting(), stop=12, checkpoint=tmp_path / "run")
    assert longer.n_iter == whole.n_iter == 12
    np.testing.assert_array_equal(longer.H, whole.H)


def test_splitting_keeps_the_promises_of_a_solver():
    check_solver(cn.Splitting())


def test_looking_ahead_ends_sooner_and_never_rises():
    rng = np.random.default_rng(3)
    V = rng.random((20, 4)) @ rng.dirichlet(np.ones(4), 60).T + 0.05 * rng.random((20, 60))
    problem = cn.factorize(V, 4, W=[PLUS, cn.Smooth(0.1)], H=[cn.Simplex(each="sample")])
    plain, ahead = (
        problem.solve(cn.Splitting(extrapolate=look), seed=0, stop=cn.MaxIter(40), throw=False)
        for look in (False, True)
    )
    assert ahead.objective < plain.objective
    for result in (plain, ahead):
        falls = np.diff(result.history.objective)
        assert (falls <= 1e-12 * result.history.objective[0]).all()
    assert ahead.max_violation <= 1e-6


def test_copies_that_do_not_meet_in_hills_leave_nothing_to_be_gained_with_their_peaks():
    """With W held and the peaks in place the rest is convex: CVXPY says how low it can be."""
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    problem = cn.factorize(V, 3, H=[cn.NonNegative(), cn.Unimodal(), cn.Box(0, 0.6)])
    result = problem.solve(cn.Splitting(), stop=cn.MaxIter(500) | cn.RelDecrease(1e-7))
    H = cp.Variable(result.H.shape)
    rising = np.arange(result.H.shape[1] - 1) < result.H.argmax(axis=1)[:, None]
    steps = cp.multiply(np.where(rising, 1.0, -1.0), cp.diff(H, axis=1))
    least = cp.Problem(
        cp.Minimize(cp.sum_squares(V - result.W @ H)), [steps >= 0, H >= 0, H <= 0.6]
    )
    least.solve(solver="CLARABEL")
    assert result.objective <= 1.01 * least.value


def test_a_program_that_touches_no_entry_is_not_sent_to_a_backend(capfd):
    """A backend written in Rust tells of an empty program on standard error, whoever catches it."""
    near, tried = ProxProgram((1, 2), [cn.NonNegative()]).solve(np.array([[1.0, -1.0]]), 1.0)
    assert near.tolist() == [[1.0, 0.0]]
    assert tried == []
    assert capfd.readouterr() == ("", "")


def test_a_factor_that_waits_for_its_copies_is_not_at_rest():
    """For three iterations the copies of W have not come together, and W stays where it is."""
    V = np.random.default_rng(6).standard_normal((6, 5))

    def rough(X):
        return 0.05 * cp.sum_squares(X[1:] - X[:-1])

    W = [cn.Box(-np.inf, 1.0), cn.Sparseness(max=0.6), cn.ConvexPenalty(rough)]
    stop = cn.FactorChange(1e-3) | cn.MaxIter(6)
    result = cn.factorize(V, 3, W=W).solve(cn.Splitting(), stop=stop)
    told = result.history.objective
    assert told[2] == told[3]
    assert result.status.name == "MAX_ITER"
    assert result.objective < 0.7 * told[2]


@pytest.mark.parametrize("seed", [2, 3])
def test_copies_at_rest_in_sets_that_are_not_convex_leave_nothing_to_be_gained(seed):
    """A cone solver with planes at the result finds nothing lower, either."""
    V = np.random.default_rng(seed).random((6, 8))
    H = [PLUS, cn.Sparseness(0.5, 0.5), cn.Monotone()]
    result = cn.factorize(V, 3, W=[PLUS, cn.UnitNorm()], H=H).solve(cn.Splitting(), seed=0)
    assert result.status.name == "CONVERGED"
    assert result.certificate()


@pytest.mark.parametrize("size", [1e-45, 1e-30, 1.0])
def test_ties_to_copies_are_numbers_of_single_precision_too(size):
    G, C = np.full((5, 2, 2), size) + size * np.eye(2), np.ones((2, 5))
    for ties in (
        _PulledColumns(Quadratic(G, C, 0.0), 2),
        _PulledQuadratic(Quadratic(G[0], C, 0.0), 2),
    ):
        assert np.float32(ties.rho) > 0
