"""SCFC: what the energy is, that it falls, and what the constraints and codes look like."""

from __future__ import annotations

import numpy as np
import pytest
from differences import agrees

import conicnmf as cn
from conicnmf.datasets import load
from conicnmf.errors import IncompatibleError, InputError
from conicnmf.families.autoencoders import (
    SCFC,
    Approach,
    FastCodes,
    MiniBatch,
    Ramp,
    encode,
    exact_codes,
    standardize,
    windows,
)
from conicnmf.families.autoencoders.encoder_update import move_encoder
from conicnmf.families.autoencoders.fast_codes import matched_slopes
from conicnmf.families.autoencoders.scfc_state import State
from conicnmf.families.autoencoders.scfc_updates import filter_gradient, first_steps, move_codes
from conicnmf.families.autoencoders.step_sizes import StepSize
from conicnmf.kernels.code_steps import step_codes
from conicnmf.kernels.encoder import row_slopes


def digits(M=200, dtype=np.float64):
    return standardize(load("digits", n_samples=M).V.astype(dtype))


def labels(M=200):
    return load("digits", n_samples=M).target >= 5


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((12, 30))
    statement = FastCodes(V, 5, 0.6, 0.5, y=rng.integers(2, size=30), alpha_i=0.3, alpha_c=0.3)
    factors = statement.start(None, rng)
    factors["theta"] = 0.3 * rng.standard_normal((5, 1)) * np.abs(factors["W"].T @ V).mean()
    factors["w_out"] = rng.standard_normal((5, 1)) * 3
    factors["theta_out"] = np.array([[0.2]])
    return statement, factors


def plain_energy(statement, factors, weights):
    """Evaluate the three errors as they are written."""
    V, W, H = statement.V, factors["W"], factors["H"]
    F = np.tanh(factors["beta"] * (W.T @ V + factors["theta"])) ** statement.q
    o = np.tanh(factors["w_out"].T @ F + factors["theta_out"])[0]
    parts = [np.sum((V - W @ H) ** 2), np.sum((H - F) ** 2), np.sum((statement.teacher - o) ** 2)]
    return float(np.dot([weights.fit, weights.infer, weights.teach], parts))


def test_energy_is_the_weighted_sum_of_the_three_errors(small):
    statement, factors = small
    weights = statement.weights()
    size = np.sum(statement.V**2)
    assert weights.total(size, 0, 0) == pytest.approx(0.4)
    assert weights.total(0, 5, 30) == pytest.approx(0.6)
    expected = plain_energy(statement, factors, weights)
    assert statement.objective(factors) == pytest.approx(expected, rel=1e-12)
    assert State.at(statement, factors).energy(weights) == pytest.approx(expected, rel=1e-12)


def code_gradient(state, weights):
    """Read the gradient in H off a plain step of length one that is not projected."""
    H, zero = np.empty_like(state.H), np.zeros(5)
    pulls, failed = np.array([2 * weights.fit, 2 * weights.infer]), np.zeros(5, dtype=bool)
    rows = state.B @ state.B.T @ state.H, state.P, state.U, state.H, np.zeros_like(H)
    step_codes(*rows, 3, pulls, 0.0, 1.0, 0.0, True, zero, H, failed)
    assert failed.all()
    return state.H - H


def test_every_gradient_agrees_with_differences(small):
    statement, factors = small
    rng = np.random.default_rng(1)
    weights = statement.weights()
    state = State.at(statement, factors)

    def along(name):
        return lambda X: plain_energy(statement, factors | {name: X}, weights)

    agrees(along("H"), factors["H"], code_gradient(state, weights), rng)
    blame = state.blame(weights)
    slopes = np.empty((5, 6))
    for j, (u, p, h) in enumerate(zip(state.U, state.P, state.H, strict=True)):
        at = state.theta[j, 0], state.beta[j, 0], 3, weights.infer, state.w_out[j, 0]
        row_slopes(u, p, h, at, blame, np.empty_like(u), slopes[j])
    agrees(along("theta"), factors["theta"], slopes[:, :1], rng)
    agrees(along("beta"), factors["beta"], slopes[:, 1:2], rng)
    agrees(along("W"), factors["W"], filter_gradient(state, weights).T, rng)
    F = state.U**3
    agrees(along("w_out"), factors["w_out"], (F @ blame)[:, None], rng)
    agrees(along("theta_out"), factors["theta_out"], blame.sum(keepdims=True)[None], rng)


@pytest.mark.parametrize("shape", [{}, {"sparseness_h": None}, {"nonneg": True}])
def test_what_a_step_on_codes_changes_is_the_difference_of_the_energies(shape):
    statement = FastCodes(digits(), 8, **{"sparseness_h": 0.6} | shape)
    factors = statement.solve(SCFC(Ramp(0)), stop=3).factors
    weights, state = statement.weights(), State.at(statement, factors)
    before = state.fit, state.gap
    move_codes(state, weights, StepSize(0.0, age=3), 0.9)
    told = state.fit - before[0], state.gap - before[1]
    state.measure()
    assert told == pytest.approx((state.fit - before[0], state.gap - before[1]), rel=1e-6)
    assert np.allclose(state.change, state.H - factors["H"])
    assert state.energy(weights) < weights.total(*before, 0.0)


def test_plain_steps_on_codes_need_no_test():
    """One over the curvature: the energy falls from any point, though no step is looked at."""
    statement, weights = FastCodes(digits(), 8, 0.7, 0.6), None
    rng = np.random.default_rng(0)
    for _ in range(10):
        factors = statement.start({"W": rng.standard_normal((64, 8))}, rng)
        factors["H"] = statement.code_constraint.project(rng.standard_normal(factors["H"].shape))
        state, weights = State.at(statement, factors), statement.weights()
        before = state.energy(weights)
        move_codes(state, weights, StepSize(0.0), 0.0)
        assert state.energy(weights) < before


def test_single_precision_goes_on_where_differences_of_energies_are_rounding():
    """Late steps change the energy by less than the last digit of a sum in single precision."""
    V = digits(400)
    ends = {
        dtype: FastCodes(V.astype(dtype), 8, 0.6, 0.5).solve(SCFC(Ramp(0)), stop=400)
        for dtype in (np.float32, np.float64)
    }
    energies = ends[np.float32].history.to_frame()["energy"].to_numpy()
    assert (np.diff(energies[1:]) <= 0).all()
    assert 0 < energies[-40] - energies[-1] < 1e-4
    assert energies[-1] == pytest.approx(ends[np.float64].objective, rel=0.03)


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("nonneg", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_energy_never_rises_at_fixed_weights(supervised, nonneg, dtype):
    y = labels() if supervised else None
    statement = FastCodes(digits(dtype=dtype), 8, 0.7, 0.6, y=y, nonneg=nonneg)
    result = statement.solve(SCFC(Ramp(6)), stop=30)
    frame = result.history.to_frame().iloc[1:]
    same = (np.diff(frame["alpha_i"]) == 0) & (np.diff(frame["alpha_c"]) == 0)
    assert same.sum() > 10
    assert np.diff(frame["energy"])[same].max() <= 0
    assert result.max_violation < (1e-4 if dtype == np.float32 else 1e-8)
    assert all(X.dtype == dtype for X in result.factors.values())
    if nonneg:
        assert min(result.W.min(), result.H.min()) >= 0
    else:
        assert min(result.W.min(), result.H.min()) < 0


def test_codes_that_somebody_holds_are_not_written_over():
    problem, solver = FastCodes(standardize(digits(60)), 4), SCFC(Ramp(3))
    held = []

    def hold_some(iteration, factors):
        """Keep all codes, a part of them or nothing, each with a copy."""
        keep = (factors["H"], factors["H"][1:, ::2], None)[iteration.iteration % 3]
        held.append((keep, None if keep is None else keep.copy()))

    found = problem.solve(solver, stop=12, seed=0, callback=hold_some)
    for codes, copy in held:
        assert copy is None or np.array_equal(codes, copy)
    assert np.array_equal(found.H, problem.solve(solver, stop=12, seed=0).H)


def test_codes_that_nobody_holds_are_written_over():
    problem = FastCodes(standardize(digits(60)), 4)
    factors = problem.start(None, np.random.default_rng(0))
    state, weights, step_size = State.at(problem, factors), problem.weights(0, 0), StepSize(0.0)
    factors.clear()
    places = []
    for _ in range(5):
        move_codes(state, weights, step_size, 0.9)
        places.append(state.H.ctypes.data)
    assert len(set(places)) == 2
    held = state.old_codes[0]
    move_codes(state, weights, step_size, 0.9)
    assert not np.shares_memory(held, state.H)


def test_sparseness_is_exact_and_rows_of_codes_have_norm_one():
    result = FastCodes(digits(), 8, 0.75, 0.6).solve(stop=15)
    assert np.allclose(cn.sparseness(result.W, axis=0), 0.75)
    assert np.allclose(cn.sparseness(result.H, axis=1), 0.6)
    assert np.allclose(np.linalg.norm(result.H, axis=1), 1)


def test_free_sparseness_is_left_free():
    result = FastCodes(digits(), 8, None, 0.6).solve(stop=15)
    assert np.ptp(cn.sparseness(result.W, axis=0)) > 0.01


def test_weights_follow_the_schedule():
    statement = FastCodes(digits(60), 4, y=labels(60))
    frame = statement.solve(SCFC(Ramp(4)), stop=12).history.to_frame()
    assert frame["alpha_i"].tolist()[1:7] == [0, 0.125, 0.25, 0.375, 0.5, 0.5]
    assert frame["alpha_c"].tolist()[5:10] == [0, 0.125, 0.25, 0.375, 0.5]
    soft = statement.solve(SCFC(Approach(1.0)), stop=12).history.to_frame()
    assert (np.diff(soft["alpha_i"].iloc[1:]) >= 0).all()
    assert soft["alpha_i"].iloc[-1] + soft["alpha_c"].iloc[-1] == 1


def test_objective_of_the_history_is_the_stated_one():
    statement = FastCodes(digits(), 8)
    result = statement.solve(stop=10)
    assert result.objective == pytest.approx(result.history[-1].objective, rel=1e-9)
    last = result.history[-1].notes
    mean = 0.5 * (last["reconstruction"] + last["inference"])
    assert result.objective == pytest.approx(mean, rel=1e-9)
    assert result.relative_error == pytest.approx(last["reconstruction"], rel=1e-9)


def test_plateau_of_the_transfer_function_is_what_makes_inference_possible():
    inference = {
        q: FastCodes(digits(), 16, 0.7, 0.7, q=q).solve(SCFC(Ramp(40)), stop=100).history[-1]
        for q in (1, 3)
    }
    assert inference[3].notes["inference"] < 0.5 * inference[1].notes["inference"]


def test_mean_sparseness_of_code_words_follows_the_approximation():
    M, n = 600, 64
    result = FastCodes(digits(M), n, 0.7, 0.7).solve(SCFC(Ramp(30)), stop=60)
    found = cn.sparseness(result.H, axis=0)
    root = np.sqrt(n)
    # From the mean norms of rows: this is the paper's estimate before its last rounding.
    expected = (root - (np.sqrt(M) - 0.7 * (np.sqrt(M) - 1)) * root / np.sqrt(M)) / (root - 1)
    assert found.mean() == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("sparseness", [0.1, 0.3])
def test_filters_that_grow_fast_do_not_leave_the_codes_saturated(sparseness):
    result = FastCodes(digits(), 16, sparseness, 0.3).solve(SCFC(Ramp(20)), stop=40)
    assert result.history[-1].notes["inference"] < 1


def test_teacher_teaches():
    V, y = digits(300), labels(300)
    statement = FastCodes(V, 16, 0.7, 0.6, y=y)
    result = statement.solve(SCFC(Ramp(30)), stop=120)
    codes = statement.codes(result.factors, V)
    answers = np.tanh(result.factors["w_out"].T @ codes + result.factors["theta_out"])[0]
    assert np.mean((answers > 0) == y) > 0.95


def test_resumed_run_equals_the_whole():
    statement, solver = FastCodes(digits(100), 6, y=labels(100)), SCFC(Ramp(4))
    rng = np.random.default_rng(0)
    factors = statement.start(None, rng)
    memo = solver.start(statement, None)
    for k in range(12):
        if k == 6:
            kept = {name: np.array(X) for name, X in factors.items()}
            packed = {name: np.array(X) for name, X in solver.pack(memo).items()}
        sweep = solver.sweep(statement, factors, memo)
        factors, memo = sweep.factors, sweep.memo
    memo = solver.unpack(packed, solver.start(statement, None))
    for _ in range(6):
        sweep = solver.sweep(statement, kept, memo)
        kept, memo = sweep.factors, sweep.memo
    for name, X in factors.items():
        assert np.allclose(X, kept[name], rtol=1e-6, atol=1e-9 * np.abs(X).max())


def test_same_seed_same_answer_and_data_unchanged():
    V = digits(100)
    before = V.copy()
    first, second = (FastCodes(V, 6).solve(stop=8, seed=3) for _ in range(2))
    assert np.array_equal(first.W, second.W)
    assert np.array_equal(V, before)


def test_scale_of_the_data_does_not_matter():
    V = digits(100)
    plain, scaled = (FastCodes(s * V, 6).solve(stop=8) for s in (1.0, 1e3))
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-6)
    assert np.allclose(scaled.W, 1e3 * plain.W, rtol=1e-4, atol=1e-3 * np.abs(plain.W).max())


def test_windows_are_local():
    V = digits(400)
    W = windows(V, 12, (8, 8), seed=1)
    y, x = np.mgrid[:8, :8]
    for w in W.T:
        mass = w**2 / np.sum(w**2)
        center = (y.ravel() @ mass, x.ravel() @ mass)
        spread = mass @ ((y.ravel() - center[0]) ** 2 + (x.ravel() - center[1]) ** 2)
        assert spread < 4  # a square filled evenly has 10.5


def test_windows_of_differences_have_both_signs():
    V = digits(400)
    plain, signed = (windows(V, 12, (8, 8), seed=1, signed=both) for both in (False, True))
    assert plain.min() >= 0
    assert (signed.min(axis=0) < 0).all()
    assert (signed.max(axis=0) > 0).all()


def test_inference_is_one_product_and_the_transfer_function():
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((6, 9)), rng.standard_normal((6, 4))
    theta, beta = rng.standard_normal((4, 1)), rng.random((4, 1))
    for q in (1, 3, 5):
        expected = np.tanh(beta * (W.T @ X + theta)) ** q
        assert np.allclose(encode(X, W, theta, beta, q), expected)


def test_many_samples_are_inferred_as_a_few_are_and_none_have_no_codes():
    rng = np.random.default_rng(0)
    W, theta, beta = rng.standard_normal((5, 3)), rng.random((3, 1)), rng.random((3, 1))
    X = rng.standard_normal((5, 40_000))  # more than are kept near the processor at once
    codes = encode(X, W, theta, beta, 3)
    np.testing.assert_allclose(codes, np.tanh(beta * (W.T @ X + theta)) ** 3, atol=1e-14)
    np.testing.assert_allclose(codes[:, :7], encode(X[:, :7], W, theta, beta, 3), atol=1e-14)
    assert encode(X[:, :0], W, theta, beta, 3).shape == (3, 0)


def test_standardize_gives_mean_zero_variance_one_and_zeros_for_constants():
    V = np.random.default_rng(0).random((50, 4)) * 1e3
    V[:, 2] = 7.0
    X = standardize(V)
    assert np.allclose(X.mean(axis=0), 0)
    assert np.allclose(X.std(axis=0), [1, 1, 0, 1])


def test_reports_comparisons_and_explanations_know_autoencoders():
    V = digits(80)
    problem = FastCodes(V, 4)
    runs = cn.compare(problem, [SCFC(), cn.ProjectedGradient(), MiniBatch()], seeds=[0], stop=3)
    assert runs.table["status"].tolist() == ["MAX_ITER", "SKIPPED", "SKIPPED"]
    assert "SCFC is picked" in problem.explain()
    with pytest.raises(IncompatibleError, match=r"These fit: .*ProjectedGradient"):
        exact_codes(V, 4).solve(SCFC())
    certificate = problem.solve(stop=5).certificate()
    assert {"feasible, W: sparseness", "objective as reported"} <= {
        check.name for check in certificate.checks if check.ok
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparseness_w": 1.5}, "sparseness_w to be a finite number from 0 to 1 or None, got"),
        ({"q": 2}, "number >= 1 that is odd, got q=2; the paper"),
        ({"alpha_i": 0.7, "alpha_c": 0.7, "y": [0, 1] * 5}, "<= 1, got alpha_i=0.7, alpha_c=0.7"),
        ({"alpha_c": 0.5}, "needs a teacher for alpha_c, got alpha_c=0.5; pass y"),
        ({"y": [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]}, "two classes, got 3"),
        ({"y": [0, 1]}, "one label for each of the"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        FastCodes(np.ones((4, 10)), 2, **options)


def test_zeros_and_unknown_starts_are_refused():
    with pytest.raises(InputError, match="non-zero entry"):
        FastCodes(np.zeros((4, 10)), 2)
    with pytest.raises(InputError, match="they are W, H, theta, beta"):
        FastCodes(np.ones((4, 10)), 2).solve(init={"Q": np.ones((4, 2))})
    for wrong in (7, "random", cn.Random(), ()):
        with pytest.raises(cn.InputError, match="a dict of arrays by name or a pair"):
            FastCodes(np.ones((4, 10)), 2).solve(init=wrong)
    with pytest.raises(InputError, match="must have 64 pixels"):
        windows(digits(10), 3, (7, 8))


def test_a_filter_whose_encoder_is_lost_holds_up_no_other():
    statement, solver = FastCodes(digits(), 8, 0.7, 0.6), SCFC(Ramp(0))
    factors = dict(statement.solve(solver, stop=30).factors)
    # One code is a constant: a threshold beyond all responses, and hardly any slope.
    factors["theta"], factors["beta"] = factors["theta"].copy(), factors["beta"].copy()
    factors["theta"][3], factors["beta"][3] = 1e9, 1e-10
    factors["beta"][4] *= 0.5
    state = State.at(statement, factors)
    moved = State.at(statement, factors)
    weights = statement.weights()
    move_encoder(moved, weights, first_steps(moved), 6)
    gaps = [np.sum((p.U**3 - p.H) ** 2, axis=1) for p in (state, moved)]
    assert (gaps[1] <= gaps[0]).all()
    assert gaps[1][4] < 0.5 * gaps[0][4]
    assert abs(moved.theta[3]) <= np.abs(moved.P[3]).max()
    assert moved.energy(weights) <= state.energy(weights)


def test_filters_without_a_response_have_a_slope():
    for silent in (np.zeros((1, 3)), np.full((1, 3), 1e-320)):
        assert matched_slopes(silent, 3).tolist() == [[1.0]]
