"""Projections on several constraints at once reach the nearest common point."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.model.constraints.joint import _RULES, find_projection, merged_bounds
from conicnmf.testing._geometry import nearest_by_cvxpy

PLUS = cn.NonNegative()
seeds = st.integers(0, 999)
modest = settings(max_examples=8, deadline=None)


def worst(constraints, B):
    return max(float(c.violation(B).max(initial=0.0)) for c in constraints)


def draw(seed, shape=(3, 5)):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * 10 ** rng.uniform(-1, 1)


CONVEX = {
    "bounds": lambda s: [PLUS, cn.Box(-1, s), cn.Fixed(np.eye(3, 5, dtype=bool), 0.2 * s)],
    "ball": lambda s: [PLUS, cn.NormBall(s)],
    "ball of samples": lambda s: [PLUS, cn.NormBall(s, each="sample")],
    "simplex": lambda s: [PLUS, cn.Simplex(s)],
    "simplex of samples": lambda s: [PLUS, cn.Simplex(s, each="sample")],
    "upper band": lambda s: [PLUS, cn.Sparseness(max=0.3)],
    "upper band of samples": lambda s: [PLUS, cn.Sparseness(max=0.4, each="sample")],
    "short upper band": lambda s: [PLUS, cn.Sparseness(max=0.5), cn.NormBall(s)],
    "simplex in a box": lambda s: [cn.Simplex(s), cn.Box(0.1 * s, 0.3 * s)],
    "simplex of samples in a box": lambda s: [cn.Simplex(s, each="sample"), cn.Box(-1, 0.5 * s)],
    "simplex with known entries": lambda s: [
        PLUS,
        cn.Simplex(s),
        cn.Fixed(np.eye(3, 5, dtype=bool), 0.2 * s),
    ],
    "one alone": lambda s: [cn.Simplex(s, each="sample")],
}
NOT_CONVEX = {
    "band": lambda s: [PLUS, cn.Sparseness(0.4, 0.7)],
    "band of samples": lambda s: [PLUS, cn.Sparseness(0.4, 0.7, each="sample")],
    "prescribed": lambda s: [PLUS, cn.Sparseness(0.6, 0.6)],
    "unit": lambda s: [PLUS, cn.UnitNorm()],
    "unit samples": lambda s: [PLUS, cn.UnitNorm(each="sample")],
    "unit band": lambda s: [PLUS, cn.Sparseness(0.3, 0.8), cn.UnitNorm()],
    "short band": lambda s: [PLUS, cn.Sparseness(0.4, 0.7), cn.NormBall(s)],
    "signed band": lambda s: [cn.Sparseness(0.4, 0.7)],
    "signed unit band": lambda s: [cn.Sparseness(0.3, 0.8), cn.UnitNorm()],
    "short signed band": lambda s: [cn.Sparseness(0.4, 0.7), cn.NormBall(s)],
    "sphere": lambda s: [cn.UnitNorm()],
}


@pytest.mark.parametrize("name", CONVEX)
@modest
@given(seed=seeds, size=st.floats(0.1, 5))
def test_convex_combinations_reach_cvxpys_point(name, seed, size):
    constraints, X = CONVEX[name](size), draw(seed)
    projection = find_projection(constraints)
    P = projection(X)
    wanted = nearest_by_cvxpy(X, *constraints)
    np.testing.assert_allclose(P, wanted, atol=2e-5 * np.abs(X).max())


@pytest.mark.parametrize("name", NOT_CONVEX)
@modest
@given(seed=seeds, size=st.floats(0.1, 5))
def test_no_common_point_is_nearer(name, seed, size):
    constraints, X = NOT_CONVEX[name](size), np.abs(draw(seed))
    X[np.eye(3, 5, dtype=bool)] *= -0.2  # some negative entries, none of the pieces without others
    rng = np.random.default_rng(seed)
    projection = find_projection(constraints)
    P = projection(X)
    assert worst(constraints, P) <= 1e-9
    reached = np.linalg.norm(X - P)
    for distance in np.geomspace(1e-3, 3, 60) * np.abs(X).max():
        # Points of the set near P and far from it: any of them could be nearer to X.
        other = projection(P + distance * rng.standard_normal(X.shape))
        if worst(constraints, other) <= 1e-9:
            assert np.linalg.norm(X - other) >= reached - 1e-9 * np.abs(X).max()


@pytest.mark.parametrize("name", CONVEX | NOT_CONVEX)
def test_a_projection_is_inside_idempotent_and_leaves_its_input(name):
    constraints = (CONVEX | NOT_CONVEX)[name](1.5)
    X = np.abs(draw(3))
    before = X.copy()
    projection = find_projection(constraints)
    P = projection(X)
    assert P.shape == X.shape
    assert worst(constraints, P) <= 1e-9
    np.testing.assert_allclose(projection(P), P, atol=1e-9)
    np.testing.assert_array_equal(X, before)
    assert projection(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", CONVEX | NOT_CONVEX)
def test_components_can_be_projected_one_by_one(name):
    projection = find_projection((CONVEX | NOT_CONVEX)[name](1.5))
    if projection.each == "sample":
        return
    X = draw(5)
    for j in range(3):
        alone = projection(X, slice(j, j + 1))
        np.testing.assert_allclose(alone, projection(X)[j : j + 1], atol=1e-12)


@pytest.mark.parametrize(
    "constraints",
    [
        [PLUS, cn.Sparseness(min=0.5), cn.Simplex()],
        [PLUS, cn.Sparseness(min=0.5), cn.Sparseness(max=0.7, each="sample")],
        [PLUS, cn.Sparseness(min=0.5), cn.UnitNorm(each="sample")],
        [cn.Box(0, 1), cn.NormBall()],
        [cn.Fixed(np.eye(3, 5, dtype=bool), 1.0), PLUS, cn.NormBall()],
        [PLUS, cn.Convex(lambda X: cp.sum(X) <= 1)],
        [cn.Box(1, np.inf), cn.NormBall(9.0)],
    ],
    ids=str,
)
def test_combinations_without_a_known_projection_have_none(constraints):
    assert find_projection(constraints) is None


def test_no_constraint_at_all_changes_nothing():
    X = draw(0)
    np.testing.assert_array_equal(find_projection([])(X), X)


def test_every_registered_combination_is_tested_here():
    tried = {frozenset(type(c) for c in make(1.0)) for make in (CONVEX | NOT_CONVEX).values()}
    ours = {
        frozenset(kinds)
        for kinds, _ in _RULES
        if all("conicnmf" in kind.__module__ for kind in kinds)
    }
    assert ours <= tried


def test_contradicting_bounds_are_named_with_the_entry():
    constraints = [PLUS, cn.Box(-3, np.array([[1.0, -1.0]]))]
    with pytest.raises(cn.InfeasibleError) as caught:
        merged_bounds(constraints)
    for word in ("NonNegative()", "Box(", "component 0", "at least 0", "at most -1"):
        assert word in str(caught.value)


def test_contradicting_bounds_are_refused_when_they_are_stated():
    with pytest.raises(cn.InfeasibleError, match="contradict"):
        cn.factorize(np.ones((4, 3)), 2, H=[cn.Box(2, 3), cn.Box(0, 1)])


@modest
@given(seed=seeds)
def test_merged_bounds_are_the_tightest(seed):
    rng = np.random.default_rng(seed)
    lows, highs = rng.random((3, 2, 4)), 1 + rng.random((3, 2, 4))
    lower, upper = merged_bounds([cn.Box(*pair) for pair in zip(lows, highs, strict=True)])
    np.testing.assert_array_equal(lower, lows.max(axis=0))
    np.testing.assert_array_equal(upper, highs.min(axis=0))


def test_a_simplex_outside_of_its_bounds_is_told_at_the_start():
    problem = cn.factorize(np.ones((4, 6)), 2, H=[cn.Simplex(), cn.Box(0, 0.1)])
    with pytest.raises(cn.InfeasibleError, match=r"sum to 0 at least and 0.6 at most"):
        problem.solve()


def test_two_bands_or_two_balls_of_the_same_pieces_are_one():
    X = np.abs(np.random.default_rng(0).standard_normal((3, 9)))
    bands = [cn.NonNegative(), cn.Sparseness(0.2, 0.6), cn.Sparseness(min=0.4), cn.NormBall(2.0)]
    one = [cn.NonNegative(), cn.Sparseness(0.4, 0.6), cn.NormBall(1.0)]
    np.testing.assert_array_equal(
        find_projection([*bands, cn.NormBall(1.0)])(X), find_projection(one)(X)
    )
    assert find_projection([*bands, cn.Sparseness(min=0.3, each="sample")]) is None
    with pytest.raises(cn.InfeasibleError, match=r"at least 0\.5 and at most 0\.4; relax"):
        find_projection([cn.Sparseness(max=0.4), cn.Sparseness(min=0.5)])
