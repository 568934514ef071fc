"""Every form of a penalty agrees with its value."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model import penalties
from conicnmf.testing import check_penalty


def rough(H):
    return cp.sum_squares(cp.diff(H, axis=1))


def group(H):
    return cp.sum(cp.norm(H, 2, axis=1))


SMOOTH = [cn.L1(0.0), cn.L1(0.7), cn.L2(0.0), cn.L2(3.0)]
LAPLACIAN = np.diag([1.0, 2.0, 2.0, 1.0]) - np.diag(np.ones(3), 1) - np.diag(np.ones(3), -1)
STRUCTURED = [
    cn.TotalVariation(0.5),
    cn.TotalVariation(0.5, each="sample"),
    cn.Smooth(0.3),
    cn.Smooth(0.3, order=2, each="sample"),
    cn.Smooth(0.3, order=7),
    cn.GraphLaplacian(0.4, LAPLACIAN),
    cn.GraphLaplacian(0.4, LAPLACIAN[:3, :3], each="sample"),
    cn.L21(0.4),
    cn.L21(0.4, each="sample"),
    cn.GroupLasso(0.4, [0, 1, 0, 1]),
    cn.GroupLasso(0.4, ["a", "a", "b"], each="sample"),
    cn.Nuclear(0.3),
    cn.MinimumVolume(0.3, delta=0.5),
]
CONVEX = [cn.ConvexPenalty(rough), cn.ConvexPenalty(group, "rows"), cn.ConvexPenalty(cp.sum)]


@pytest.mark.parametrize("penalty", SMOOTH + CONVEX + STRUCTURED, ids=repr)
@pytest.mark.parametrize("nonneg", [True, False])
def test_a_penalty_agrees_with_itself(penalty, nonneg):
    check_penalty(penalty, nonneg)


@pytest.mark.parametrize("each", ["component", "sample"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (5, 1)])
def test_a_reward_agrees_with_itself(each, shape):
    check_penalty(penalties.SparsenessReward(0.5, each), shape=shape)


def test_a_penalty_on_w_is_given_as_the_user_sees_w():
    V = np.random.default_rng(0).random((6, 5))
    seen = []

    def along_features(W):
        seen.append(W.shape)
        return 5 * cp.sum_squares(cp.diff(W, axis=0))

    smooth = cn.factorize(V, 2, W=[cn.NonNegative(), cn.ConvexPenalty(along_features)])
    result = smooth.solve(cn.TangentPlane(), stop=4)
    assert set(seen) == {(6, 2)}
    stated = np.sum((V - result.W @ result.H) ** 2) + 5 * np.sum(np.diff(result.W, axis=0) ** 2)
    assert result.objective == pytest.approx(stated, rel=1e-9)


def test_a_reward_is_what_sparseness_says():
    B = np.random.default_rng(0).random((3, 6))
    stated = -0.5 * cn.sparseness(B, axis=1).sum()
    assert penalties.SparsenessReward(0.5).value(B) == pytest.approx(stated)
    stated = -0.5 * cn.sparseness(B, axis=0).sum()
    assert penalties.SparsenessReward(0.5, each="sample").value(B) == pytest.approx(stated)


def test_a_reward_at_zero_is_zero_and_flat():
    B = np.array([[0.0, 0.0], [3.0, 4.0]])
    reward = penalties.SparsenessReward(1.0)
    assert reward.value(B) == pytest.approx(-cn.sparseness(B[1:], axis=1)[0])
    assert not reward.gradient(B)[0].any()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: cn.L1(-1.0), cn.InputError, ["L1", ">= 0", "-1.0"]),
        (lambda: cn.L2(np.nan), cn.InputError, ["L2", "nan"]),
        (lambda: penalties.SparsenessReward(-1.0), cn.InputError, [">= 0", "-1.0"]),
        (
            lambda: cn.factorize(np.ones((5, 4)), 2, W=[cn.GraphLaplacian(1.0, LAPLACIAN)]),
            cn.InputError,
            ["4 nodes", "5 entries"],
        ),
        (
            lambda: cn.factorize(np.ones((5, 4)), 2, H=[cn.GroupLasso(1.0, [0, 1])]),
            cn.InputError,
            ["2 entries", "4"],
        ),
        (
            lambda: cn.GraphLaplacian(1.0, -LAPLACIAN),
            cn.InputError,
            ["positive semi-definite", "degrees minus adjacency"],
        ),
        (
            lambda: cn.GraphLaplacian(1.0, np.triu(LAPLACIAN)),
            cn.InputError,
            ["symmetric"],
        ),
        (
            lambda: cn.factorize(np.ones((3, 2)), 1, H=[cn.ConvexPenalty(lambda H: -rough(H))]),
            cn.ModelError,
            ["convex scalar", "concave"],
        ),
        (
            lambda: cn.factorize(np.ones((3, 2)), 1, H=[cn.ConvexPenalty(cp.abs, "sizes")]),
            cn.ModelError,
            ["sizes", "(1, 2)"],
        ),
    ],
)
def test_bad_settings_are_refused_with_the_rule_and_the_value(make, error, words):
    with pytest.raises(error) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_the_slope_of_the_reward_is_that_of_a_cone_at_every_size():
    X = np.random.default_rng(0).random((3, 5))
    reward = cn.SparsenessReward(2.0)
    for scale in (1e-150, 1e150):
        np.testing.assert_allclose(scale * reward.slope(scale * X), reward.slope(X), rtol=1e-12)


def test_a_graph_costs_nothing_where_components_are_even_however_large():
    L = np.diag([1.0, 2, 2, 1]) - np.diag(np.ones(3), 1) - np.diag(np.ones(3), -1)
    graph = cn.GraphLaplacian(0.5, L)
    assert graph.value(np.full((2, 4), 1e58 / 3)) == 0
    B = 1e8 + np.array([[0.0, 1.0, 3.0, 3.0]])
    assert graph.value(B) == pytest.approx(0.5 * (1 + 4))
    M = np.random.default_rng(0).standard_normal((4, 4))
    rows = np.random.default_rng(1).standard_normal((3, 4))
    other = cn.GraphLaplacian(2.0, M @ M.T).value(rows)
    assert other == pytest.approx(2 * sum(np.square(M.T @ row).sum() for row in rows))
