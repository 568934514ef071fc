"""Label cones beside weights, missing entries and other losses."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 6)
V = RNG.random((10, 3))[:, Y] + 0.4 * RNG.random((10, 18))
RADIUS = 0.05
WEIGHTS = {
    "mask": (RNG.random(V.shape) < 0.8).astype(float),
    "entries": RNG.random(V.shape) + 0.2,
    "samples": np.ones((10, 1)) @ (RNG.random((1, 18)) + 0.2),
}


def best_codes(W, M):
    """Return the lowest weighted error of codes inside the cones, stated in CVXPY."""
    H = cp.Variable((3, 18), nonneg=True)
    cones = []
    for label in np.unique(Y):
        own = np.flatnonzero(label == Y)
        mean = cp.sum(H[:, own], axis=1) / len(own)
        cones += [cp.norm(mean - H[:, j]) <= RADIUS * cp.sum(mean) for j in own]
    error = cp.sum_squares(cp.multiply(M, V - W @ H))
    return cp.Problem(cp.Minimize(error), cones).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("solver", [None, cn.TangentPlane()])
def test_codes_of_weighted_data_are_the_best_inside_their_cones(kind, solver):
    M = WEIGHTS[kind]
    problem = cn.factorize(
        V, 3, loss=cn.WeightedFrobenius(M), H=[cn.NonNegative(), cn.Labels(Y, RADIUS)]
    )
    result = problem.solve(solver, seed=1)
    assert max(result.violation.values()) <= 1e-6
    for j in range(18):
        mean = result.H[:, Y[j] == Y].mean(axis=1)
        assert np.linalg.norm(mean - result.H[:, j]) <= RADIUS * mean.sum() + 1e-6
    assert result.objective == pytest.approx(np.sum((M * (V - result.W @ result.H)) ** 2))
    assert result.objective <= 1.01 * best_codes(result.W, M)


def test_what_a_mask_hides_does_not_matter_beside_labels():
    M = WEIGHTS["mask"]
    terms = {"loss": cn.WeightedFrobenius(M), "H": [cn.NonNegative(), cn.Labels(Y, RADIUS)]}
    one, other = (cn.factorize(X, 3, **terms).solve(seed=1) for X in (V, np.where(M > 0, V, 1e3)))
    np.testing.assert_allclose(one.W @ one.H, other.W @ other.H, atol=1e-6)
