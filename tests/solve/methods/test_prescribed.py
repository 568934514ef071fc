"""Prescribed sparseness beside constraints that share no projection with it, and signed factors."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.programs.closing import Closing

PLUS = cn.NonNegative()
V = cn.datasets.low_rank(12, 15, 3, noise=0.05, seed=0).V
EXACT = cn.Sparseness(0.4, 0.4)
COMPANIONS = {
    "convex": [PLUS, EXACT, cn.Convex(lambda W: cp.sum(W, axis=0) <= 4)],
    "box": [PLUS, EXACT, cn.Box(0, 1)],
    "simplex": [EXACT, cn.Simplex()],
    "simplex of samples": [EXACT, cn.Simplex(each="sample")],
    "band of samples": [PLUS, EXACT, cn.Sparseness(0.05, 0.6, each="sample")],
    "narrow": [PLUS, cn.Sparseness(0.4, 0.405), cn.Box(0, 1)],
    "penalty": [PLUS, EXACT, cn.Box(0, 1), cn.L1(0.05)],
    "signed, box": [EXACT, cn.Box(-1, 1)],
}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("terms", COMPANIONS.values(), ids=COMPANIONS)
def test_it_ends_feasible_and_improved(terms, seed):
    result = cn.factorize(V, 3, W=terms).solve(seed=seed, stop=25)
    assert result.status.name in ("CONVERGED", "MAX_ITER", "OSCILLATING")
    assert result.max_violation <= 1e-6
    band = next(t for t in terms if isinstance(t, cn.Sparseness))
    own = cn.sparseness(np.abs(result.W), axis=0)
    assert own == pytest.approx(np.clip(own, band.min, band.max), abs=1e-6)
    # Signs that do not fit may cost a component, which then is zero on the other side.
    part = 0.05 if result.problem.blocks[0].nonneg else 0.3
    assert result.objective < part * result.history.objective[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_companion_that_does_not_bind_costs_nothing(seed):
    """With a loose bound the answer is as good as that of the exact projection without it."""
    loose = cn.Convex(lambda W: cp.sum(W, axis=0) <= 1e3)
    stop = cn.MaxIter(100) | cn.RelDecrease(1e-5)
    best = cn.factorize(V, 3, W=[PLUS, EXACT]).solve(seed=seed, stop=stop).objective
    found = cn.factorize(V, 3, W=[PLUS, EXACT, loose]).solve(seed=seed, stop=stop)
    assert found.objective <= 1.25 * best
    assert found.certificate(), found.certificate()


@pytest.mark.parametrize("form", ["gauge", "taylor"])
def test_sparsity_maximization_improves_too_and_never_rises(form):
    terms = COMPANIONS["box"]
    result = cn.factorize(V, 3, W=terms).solve(cn.SparsityMaximization(form=form), stop=8)
    assert result.max_violation <= 1e-6
    assert result.objective < 0.5 * result.history.objective[0]
    assert np.diff(result.history.objective).max() <= 1e-9 * result.history.objective[0]


def test_closing_reaches_the_nearest_point_where_that_is_known():
    """Newton steps within W ≥ 0 alone, against the exact projection on the band."""
    rng = np.random.default_rng(0)
    loose = cn.Convex(lambda B: cp.sum(B) <= 1e6)
    (block,) = (b for b in cn.factorize(V, 3, W=[PLUS, EXACT, loose]).blocks if b.name == "W")
    near = EXACT.project(rng.random(block.shape))
    B = np.maximum(near + 0.01 * rng.standard_normal(near.shape), 0.0)
    closed = Closing(block).settle(B, B).B
    assert block.violation(closed) <= 1e-7
    exact = EXACT.project(B)
    assert np.linalg.norm(closed - B) <= np.linalg.norm(exact - B) * (1 + 1e-3)


Z = np.random.default_rng(0).standard_normal((12, 30))
SIGNED = {
    "ball": [cn.Sparseness(min=0.5), cn.NormBall(1.0)],
    "box": [cn.Sparseness(min=0.5), cn.Box(-1, 1)],
    "box and ball": [cn.Sparseness(min=0.5), cn.Box(-1, 1), cn.NormBall(1.0)],
    "other direction": [cn.Sparseness(min=0.3, each="sample"), cn.NormBall(1.0)],
    "two bands": [cn.Sparseness(min=0.5), cn.Sparseness(max=0.8)],
}


@pytest.mark.parametrize("terms", SIGNED.values(), ids=SIGNED)
def test_sparse_principal_components_start_and_solve_from_every_seed(terms):
    problem = cn.factorize(Z, 3, W=terms, H=[])
    free = cn.factorize(Z, 3, W=[], H=[]).solve().objective
    for seed in range(4):
        result = problem.solve(seed=seed, stop=30)
        assert result.max_violation <= 1e-6
        assert result.objective <= free + 0.25 * (result.history.objective[0] - free)


BESIDE = {
    "convex": [cn.Convex(lambda W: cp.abs(cp.diff(W, axis=0)) <= 1)],
    "penalty and ball": [cn.ConvexPenalty(lambda W: cp.sum_squares(W[1:] - W[:-1])), cn.NormBall()],
    "reverse-convex": [cn.ReverseConvex(lambda W: cp.norm(W, 2, axis=0) >= 1)],
    "box": [cn.Box(-1, 2)],
}


@pytest.mark.parametrize("terms", BESIDE.values(), ids=BESIDE)
def test_a_signed_band_holds_beside_terms_that_depend_on_signs(terms):
    band = cn.Sparseness(min=[0.3, 0.5], max=0.8)
    problem = cn.factorize(Z[:6, :10], 2, W=[band, *terms], H=[])
    result = problem.solve(cn.TangentPlane(), stop=12)
    levels = cn.sparseness(np.abs(result.W), axis=0)
    assert (levels >= np.array([0.3, 0.5]) - 1e-6).all()
    assert (levels <= 0.8 + 1e-6).all()
    assert result.max_violation <= 1e-6
    assert result.objective < 0.7 * result.history.objective[0]
    assert (result.W < -1e-3).any()


def test_a_signed_band_of_any_sign_is_the_band():
    rng = np.random.default_rng(2)
    band = cn.Sparseness(min=[0.2, 0.5, 0.0], max=[0.6, 1.0, 0.4])
    stated = band.any_sign()
    for _ in range(50):
        B = rng.standard_normal((3, 6)) ** 3
        assert (band.violation(B).max() <= 1e-9) == (stated.violation(B).max() <= 1e-9)


def test_one_sparseness_of_signed_components_is_refused_beside_what_depends_on_signs():
    terms = [cn.Sparseness(0.5, 0.5), cn.Box(-1, 2)]
    with pytest.raises(cn.IncompatibleError, match="a band instead of one value"):
        cn.factorize(Z, 3, W=terms, H=[]).solve(cn.TangentPlane())
    assert cn.Box(-1, 1).sign_free
    assert not cn.Box(-1, 2).sign_free


def test_a_band_that_is_open_at_both_ends_is_no_constraint_on_a_signed_factor():
    V = np.random.default_rng(0).random((6, 8))
    sums = cn.Convex(lambda H: cp.sum(H, axis=0) <= 2.1)
    result = cn.factorize(V, 2, H=[sums, cn.Sparseness(0.0, 1.0)]).solve(cn.TangentPlane(), stop=2)
    assert result.max_violation <= 1e-6
    assert result.objective < 0.2 * (V**2).sum()
    str(result.certificate())


@pytest.mark.parametrize("small", [1e-3, 1e-7, 0.0])
def test_closing_sees_components_far_smaller_than_others(small):
    """Sparseness has no scale; what must not be zero begins again where it was."""
    rng = np.random.default_rng(1)
    pair = cn.Convex(lambda B: B[0, 0] + B[1, 0] <= 0.4)
    stated = [PLUS, EXACT, pair, cn.FactorSum(6.0)]
    (block,) = (b for b in cn.factorize(V, 3, W=stated).blocks if b.name == "W")
    last = EXACT.project(rng.random(block.shape))
    B = EXACT.project(rng.random(block.shape)) + 0.01 * rng.random(block.shape)
    B[1] *= small
    closed = Closing(block).settle(B, last).B
    assert block.violation(closed) <= 1e-7
    assert np.linalg.norm(closed[1]) >= min(small, 1e-3) * 0.1


@pytest.mark.parametrize("seed", range(3))
def test_it_is_met_where_the_sum_of_the_factor_leaves_most_components_next_to_nothing(seed):
    """Starts and steps shrink components by orders of magnitude, but not to zero."""
    pair = cn.Convex(lambda W: W[0, 0] + W[1, 0] <= 0.4)
    stated = [PLUS, EXACT, pair, cn.FactorSum(1.0)]
    result = cn.factorize(V, 6, W=stated, loss=cn.Absolute()).solve(seed=seed, stop=3)
    assert result.max_violation <= 1e-6
    assert cn.sparseness(result.W, axis=0) == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_signed_samples_stay_where_they_are_when_planes_lead_nowhere(seed):
    """Planes that no other program can hold leave room for the last point."""
    stated = [cn.Sparseness(0.33, 0.33, each="sample"), cn.NormBall(3.0)]
    result = cn.factorize(Z[:11, :7], 4, W=stated).solve(seed=seed, throw=False, stop=20)
    assert result.status.kind != "failed", (result.status, result.remarks)
    assert cn.sparseness(np.abs(result.W), axis=1) == pytest.approx(0.33, abs=1e-6)
