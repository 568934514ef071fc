"""A normalized problem is the stated one, divided by powers of two."""

from __future__ import annotations

import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
from model_shapes import cases

import conicnmf as cn

RNG = np.random.default_rng(3)
PLUS = cn.NonNegative()


def agree(problem):
    """Both problems have the same objective and violations at the same point, exactly."""
    normal = problem.normalized()
    for _ in range(3):
        inner = {name: RNG.random(shape) for name, shape in problem.shapes.items()}
        outer = normal.units.outward(inner)
        back = normal.units.inward(outer)
        assert all((back[name] == X).all() for name, X in inner.items())
        stated = normal.units.stated(normal.objective(inner))
        assert stated == pytest.approx(problem.objective(outer), rel=1e-12)
        mine, theirs = problem.violations(outer), normal.violations(inner)
        np.testing.assert_allclose(list(theirs.values()), list(mine.values()), atol=1e-12)
    return normal


@pytest.mark.parametrize("name", list(cases()))
def test_every_shape_is_the_same_problem_in_its_units(name):
    agree(cases()[name].problem)


@pytest.mark.parametrize("power", [-200, -9, 0, 30, 200])
def test_terms_losses_and_caps_come_along(power):
    V = RNG.random((6, 5)) * 2.0**power
    size = 2.0 ** (power / 2)
    W = [PLUS, cn.L1(3.0), cn.NormBall(2 * size), cn.SparsenessReward(0.1)]
    H = [cn.Box(0, 7 * size), cn.L2(0.3), cn.ConvexPenalty(lambda X: cp.sum(cp.abs(X)))]
    loss = cn.WeightedFrobenius(RNG.random((6, 5)), 0.5, cap=4.0 * 2.0 ** (2 * power))
    normal = agree(cn.factorize(V, 2, loss=loss, W=W, H=H))
    assert 1 <= normal.W[2].radius < 2
    assert 1 <= normal.H[0].upper < 2


def test_data_are_divided_and_kept_as_they_are():
    for V in (RNG.random((4, 3), dtype=np.float32) * 1000, cn.datasets.load("digits").V):
        kept = V.copy()
        normal = cn.factorize(V, 2).normalized()
        assert normal.V.dtype == V.dtype
        assert 1 <= normal.V.max() < 2
        assert (kept == V).all()


def test_data_of_size_one_are_not_copied():
    problem = cn.factorize(np.ones((4, 3)), 2)
    assert problem.normalized() is problem


def test_sparse_data_stay_sparse():
    import scipy.sparse as sp

    V = sp.random_array((30, 20), density=0.1, rng=RNG, format="csr") * 1e6
    normal = agree(cn.factorize(V, 2))
    assert sp.issparse(normal.V)
    assert normal.V.nnz == V.nnz


class Stubborn(cn.extend.Constraint):
    """A set that does not know itself in other units."""

    def violation(self, B):
        """Return nothing."""
        return np.zeros(len(B))


def test_a_term_without_units_keeps_those_of_the_problem():
    problem = cn.factorize(1e9 * np.ones((4, 3)), 2, W=[PLUS, Stubborn()])
    assert problem.normalized() is problem


def test_views_share_what_they_share():
    views = {"a": np.full((5, 4), 2.0**30), "b": np.full((3, 4), 2.0**-30)}
    normal = agree(cn.factorize(views, 2))
    assert [fit.V.max() for fit in normal.fits] == [1, 1]
    powers = normal.units.powers
    assert powers["W_a"] + powers["H"] == 30
    assert powers["W_b"] + powers["H"] == -30


def test_an_offset_of_another_size_than_its_neighbors_leaves_them_their_units():
    V = np.full((5, 4), 2.0**40)
    ball = [PLUS, cn.NormBall(3.0 * 2.0**40)]
    problem = cn.factorize(
        V, 2, offset="feature", W=ball, H=[PLUS, cn.UnitNorm()], b=[cn.Box(0, 2.0**37)]
    )
    normal = agree(problem)
    assert normal.units.powers == {"W": 41, "H": 0, "b": 41}


def test_weights_are_not_copied_on_the_way_to_other_units():
    V = np.full((400, 500), 1e6)
    problem = cn.factorize(V, 2, loss=cn.WeightedFrobenius(np.ones(V.shape)))
    tracemalloc.start()
    problem.normalized()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * V.nbytes  # the data in other units, and what is true of an entry


def test_a_view_of_zeros_has_the_units_of_the_views_beside_it():
    """It has none of its own, and took one for its size, whatever that of the others was."""
    V = {"x": np.random.default_rng(0).random((4, 5)), "y": np.zeros((2, 5))}
    here, there = (
        cn.factorize({name: c * X for name, X in V.items()}, 2).solve(stop=3)
        for c in (1.0, 2.0**24)
    )
    assert np.array_equal(there.history.objective, 2.0**48 * here.history.objective)


@pytest.mark.parametrize("power", [-99, 99])
def test_a_user_s_function_with_a_constant_of_another_size_is_the_same_in_other_units(power):
    """Below its cap it is linear, so tried about one it seemed to be linear everywhere."""
    unit = 2.0**power

    def capped(X):
        return cp.sum(cp.minimum(X, 0.5 * unit)) / unit

    def bent(X):
        return cp.sum(cp.huber(X / unit, 0.5))

    X = unit * RNG.random((3, 4))
    for term in (cn.ConcavePenalty(capped), cn.ConvexPenalty(bent)):
        assert term.scaled(1 / unit).value(X / unit) == pytest.approx(term.value(X), rel=1e-12)


def test_a_bound_names_the_size_of_a_factor_where_a_user_s_function_is_there_too():
    """The function was taken for one of numbers about one, and the data were left at 2^-198."""
    tiny = 2.0**-99
    user = cn.Convex(lambda W: W[0, 0] + W[1, 1] <= tiny)
    V = tiny**2 * RNG.random((7, 11))
    problem = cn.factorize(V, 3, W=[PLUS, cn.FactorNorm(tiny), user], H=[PLUS])
    normal = agree(problem)
    assert normal.units.powers["W"] == -99
    assert 0.5 <= normal.V.max() < 2


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-12, 2.0**-150])
@pytest.mark.parametrize("bounded", [True, False])
def test_bounds_of_the_users_own_hold_relative_to_small_numbers(size, bounded):
    """Absolute tolerances would take a sum of at most 1e-12 for zero, and any sum for allowed."""
    V = np.random.default_rng(0).random((8, 3)) @ np.random.default_rng(1).random((3, 10)) * size
    bound = 0.5 * size
    H = [PLUS, cn.Convex(lambda H: cp.sum(H, axis=0) <= bound)]
    problem = cn.factorize(V, 3, W=[PLUS, cn.UnitNorm()] if bounded else [PLUS], H=H)
    result = problem.solve("Splitting", stop=20)
    assert result.H.sum(axis=0).max() <= bound * (1 + 1e-5)
    far = {"W": result.W, "H": 1.1 * result.H * (bound / result.H.sum(axis=0).max())}
    assert problem.violation(far) > 1e-6
    small = cn.Convex(lambda H: cp.sum(H, axis=0) <= 0.5)
    ones = cn.factorize(
        V / size, 3, W=[PLUS, cn.UnitNorm()] if bounded else [PLUS], H=[PLUS, small]
    )
    same = ones.solve("Splitting", stop=20).objective
    assert result.objective == pytest.approx(same * size**2, rel=0.02)


def test_a_small_floor_beside_ordinary_numbers_stays_one():
    """Zero is 1e-9 from it, as CVXPY sees it, where other entries are about one."""
    floor = cn.Convex(lambda X: X >= 1e-9)
    assert floor.violation(np.array([[0.0, 1.0]])).max() == pytest.approx(1e-9)
    V = RNG.random((6, 5)) + 1
    problem = cn.factorize(V, 2, H=[PLUS, floor], W=[PLUS])
    assert problem.normalized().units.powers.get("H", 0) == 0
    assert cn.ReverseConvex(lambda X: cp.norm(X) >= 1e-12).violation(np.zeros((1, 3))).max() > 1e-6


@pytest.mark.parametrize("size", [1e-101, 1e101])
def test_bounds_on_both_factors_far_from_the_data_are_solved(size):
    bounds = [PLUS, cn.Box(0, size)]
    result = cn.factorize(np.eye(3), 1, W=bounds, H=bounds).solve(cn.HALS(), stop=3)
    assert result.max_violation == 0
    assert result.objective == pytest.approx(3 if size < 1 else 2)


@pytest.mark.parametrize(("kind", "size"), [(float, 1e-160), (float, 1e160), (np.float32, 1e-30)])
def test_a_bound_that_the_precision_of_the_data_cannot_hold_is_refused(kind, size):
    for bound in (cn.Box(0, size), cn.UnitNorm(length=size)):
        with pytest.raises(
            cn.InputError, match=r"on H must name a size .*, got .*; state the data"
        ):
            cn.factorize(np.eye(3, dtype=kind), 1, H=[PLUS, bound])


def test_a_normalized_problem_is_solved_in_its_own_numbers():
    stated = cn.factorize(RNG.random((5, 6)) * 2.0**40, 2)
    inner = stated.normalized()
    assert inner.normalized().units.plain
    found, theirs = inner.solve("HALS", stop=5), stated.solve("HALS", stop=5)
    assert inner.units.stated(found.objective) == theirs.objective
    np.testing.assert_array_equal(inner.units.outward(found.factors)["W"], theirs.W)
