"""What users met before the first release, by the models they wrote."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import QuadraticProjection
from conicnmf.geometry.hoyer import project_hoyer

SIGNED = np.random.default_rng(0).standard_normal((10, 20))
PLUS = cn.NonNegative()


def test_a_penalty_that_is_too_large_does_not_return_the_start():
    V = cn.datasets.load("digits").V[:, ::9]
    result = cn.factorize(V, 8, W=[PLUS, cn.UnitNorm()], H=[PLUS, cn.L1(1e3)]).solve()
    assert result.objective == pytest.approx(np.vdot(V, V), rel=1e-6)  # H = 0
    assert not result.H.any()


@pytest.mark.parametrize("seed", range(4))
def test_sparse_principal_components_in_a_ball_are_feasible(seed):
    W = [cn.Sparseness(min=0.5), cn.NormBall(1)]
    result = cn.factorize(SIGNED, 2, W=W, H=[]).solve(seed=seed, stop=5)
    assert result.status.kind != "failed"
    assert cn.sparseness(result.W, axis=0).min() >= 0.5 - 1e-6
    assert np.linalg.norm(result.W, axis=0).max() <= 1 + 1e-6


def test_projected_gradients_keep_signs_on_data_of_both_signs():
    seen = []

    def look(iteration, found):
        seen.append(min(found["W"].min(), found["H"].min()))

    cn.factorize(SIGNED, 3).solve(cn.ProjectedGradient(), stop=15, callback=look)
    assert min(seen) >= 0


def test_projected_gradients_are_no_multiplicative_steps():
    V = np.abs(SIGNED)
    ways = cn.ProjectedGradient(), cn.Multiplicative()
    ends = [cn.factorize(V, 3).solve(way, stop=3).objective for way in ways]
    assert ends[0] != pytest.approx(ends[1], rel=1e-6)


def test_the_default_answers_large_singular_matrices():
    G = np.random.default_rng(0).standard_normal((1600, 3))
    result = cn.solve(QuadraticProjection(G @ G.T), stop=3)
    assert result.status.kind != "failed"
    assert np.linalg.norm(result.W) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(8))
def test_negative_definite_matrices_lose_no_component(seed):
    result = cn.solve(QuadraticProjection(-SIGNED @ SIGNED.T, 2), seed=seed)
    assert result.max_violation <= 1e-9
    assert np.linalg.norm(result.W, axis=0) == pytest.approx([1, 1])


def test_a_projection_on_a_plateau_has_its_norm_in_single_precision():
    x = np.ones((1, 3000), dtype=np.float32)
    x[0, :7] += 1e-6
    found = project_hoyer(x, np.array([9.0], np.float32), np.array([1.0], np.float32))
    assert np.linalg.norm(found.astype(float)) == pytest.approx(1, abs=1e-5)
    assert found.astype(float).sum() == pytest.approx(9, rel=1e-5)
