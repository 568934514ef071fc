"""Bounds on sparseness are the same band in whatever way they are written."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry import cone_ratio

V = np.random.default_rng(0).random((9, 11))
LEVELS = (0.3, 0.5, 0.7)
FIRST = [0, 1, 2, 3]


def problem(state, nonneg=True):
    W, H = cp.Variable((9, 3), nonneg=nonneg, name="W"), cp.Variable((3, 11), name="H")
    return cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [*state(W, H), H >= 0])


def ratio(s, n=9):
    return cone_ratio(n, s)


SPELLINGS = {
    "a level each": (
        lambda W, H: [cn.sparseness(W, axis=0) >= np.array(LEVELS)],
        cn.Sparseness(LEVELS),
    ),
    "column by column": (
        lambda W, H: [cn.sparseness(W[:, j]) >= s for j, s in enumerate(LEVELS)],
        cn.Sparseness(LEVELS),
    ),
    "of the transpose": (
        lambda W, H: [cn.sparseness(W.T, axis=1) >= LEVELS],
        cn.Sparseness(LEVELS),
    ),
    "norms": (
        lambda W, H: [
            cp.norm1(W[:, j]) <= ratio(s) * cp.norm2(W[:, j]) for j, s in enumerate(LEVELS)
        ],
        cn.Sparseness(LEVELS),
    ),
    "norms at once": (
        lambda W, H: [cp.norm(W, 1, axis=0) - ratio(0.5) * cp.norm(W, 2, axis=0) <= 0],
        cn.Sparseness(0.5),
    ),
    "sums": (
        lambda W, H: [3 * cp.sum(W[:, 1]) <= 3 * ratio(0.5) * cp.norm(W[:, 1])],
        cn.Sparseness((0.0, 0.5, 0.0)),
    ),
    "above": (
        lambda W, H: [ratio(0.5) * cp.norm(W[:, 1]) <= cp.sum(W[:, 1])],
        cn.Sparseness(max=(1.0, 0.5, 1.0)),
    ),
    "some features": (
        lambda W, H: [cn.sparseness(W[:4], axis=0) >= LEVELS],
        cn.OnPart(cn.Sparseness(LEVELS), FIRST),
    ),
    "some features by norms": (
        lambda W, H: [cp.norm(W[:4], 1, axis=0) <= ratio(0.5, 4) * cp.norm(W[:4], 2, axis=0)],
        cn.OnPart(cn.Sparseness(0.5), FIRST),
    ),
}


def same(found, wanted):
    inner, outer = (getattr(t, "constraint", t) for t in (found, wanted))
    for own, other in zip(inner.band(), outer.band(), strict=True):
        np.testing.assert_allclose(*np.broadcast_arrays(own, other), atol=1e-9)
    assert getattr(found, "places", None) == getattr(wanted, "places", None)
    assert found.each == wanted.each


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_band(spelling):
    state, wanted = SPELLINGS[spelling]
    (found,) = [t for t in problem(state).W if not isinstance(t, cn.NonNegative)]
    same(found, wanted)


def test_signs_decide_whether_a_sum_is_a_norm():
    (norm,) = problem(lambda W, H: [cp.norm1(W[:, 0]) <= 2 * cp.norm2(W[:, 0])], nonneg=False).W
    assert norm.band()[0][0] == pytest.approx(0.5)
    (total,) = problem(lambda W, H: [cp.sum(W[:, 0]) <= 2 * cp.norm2(W[:, 0])], nonneg=False).W
    assert isinstance(total, cn.ReverseConvex)
    for other in (
        lambda W: cp.norm1(W[:, 0]) <= 2 * cp.norm2(W[:, 0]) + 0.1,
        lambda W: cp.norm1(W[:, 0]) <= 2 * cp.norm2(W[1:, 0]),
        lambda W: cp.norm1(W) <= 4 * cp.norm(W, "fro"),
    ):
        found = list(problem(lambda W, H, other=other: [other(W)]).W)
        assert any(isinstance(term, cn.ReverseConvex) for term in found)


def test_signed_bands_stand_beside_constraints_of_any_kind():
    data = V - 0.5

    def stated(extra, price=0.0):
        W, H = cp.Variable((9, 2), name="W"), cp.Variable((2, 11), name="H")
        loss = cp.sum_squares(data - W @ H) + price * cp.sum_squares(cp.diff(W, axis=0))
        sparse = cp.norm(W, 1, axis=0) <= 1.8 * cp.norm(W, 2, axis=0)
        return cn.Problem(cp.Minimize(loss), [sparse, cp.sum_squares(H) <= 20, *extra(W)])

    for problem in (
        stated(lambda W: [cp.sum(W, axis=0) == 0, cp.abs(cp.diff(W, axis=0)) <= 1]),
        stated(lambda W: [W >= -1, cp.norm(W, 2, axis=0) <= 1], price=0.1),
    ):
        result = problem.solve(seed=0, stop=4)
        assert result.objective < result.history.objective[0]
        assert result.max_violation <= 1e-6
        ratios = np.abs(result.W).sum(axis=0) / np.linalg.norm(result.W, axis=0)
        assert (ratios <= 1.8 + 1e-6).all()


def test_bands_of_parts_go_to_their_own_pieces():
    def state(W, H):
        return [
            cn.sparseness(W[:4], axis=0) >= 0.5,
            cn.sparseness(W[4:], axis=0) == [0.2, 0.3, 0.4],
            cn.sparseness(H[1]) >= 0.4,
        ]

    result = problem(state).solve(cn.HALS(), seed=0)
    assert cn.sparseness(result.W[:4], axis=0).min() >= 0.5 - 1e-9
    np.testing.assert_allclose(cn.sparseness(result.W[4:], axis=0), [0.2, 0.3, 0.4], atol=1e-9)
    assert cn.sparseness(result.H[1]) >= 0.4 - 1e-9
    planes = problem(state).solve(cn.TangentPlane(), seed=0)
    assert planes.relative_error == pytest.approx(result.relative_error, rel=0.05)
    assert max(planes.violation.values()) <= 1e-6


def test_native_planes_with_a_level_for_each_are_the_cone_solvers():
    stated = problem(lambda W, H: [cn.sparseness(W, axis=0) >= LEVELS])
    native, conic = (
        stated.solve(cn.TangentPlane(engine=engine), seed=1, stop=cn.MaxIter(3))
        for engine in ("native", "conic")
    )
    assert native.objective == pytest.approx(conic.objective, rel=1e-4)
    alone = cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(LEVELS)]).solve(cn.HALS(), seed=1)
    assert (cn.sparseness(alone.W, axis=0) >= np.array(LEVELS) - 1e-9).all()


def test_levels_must_be_as_many_as_pieces():
    with pytest.raises(cn.InputError, match="a level for each component, got 2 in min for 3"):
        cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness([0.1, 0.2])])
    with pytest.raises(cn.InputError, match="min and max of the same length"):
        cn.Sparseness([0.1, 0.2], [0.3, 0.4, 0.5])
    with pytest.raises(cn.InputError, match="place 9, but each component has 9"):
        cn.factorize(V, 3, W=[cn.OnPart(cn.Sparseness(0.2), [1, 9])])
