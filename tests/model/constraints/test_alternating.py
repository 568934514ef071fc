"""Points of several sets at once, from the projections on each of them."""

from dataclasses import replace

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.constraints.alternating import alternate, find_parts
from conicnmf.testing._geometry import nearest_by_cvxpy

PLUS = cn.NonNegative()


@pytest.mark.parametrize(
    "stated",
    [
        [PLUS, cn.Monotone(), cn.NormBall(0.8)],
        [PLUS, cn.Simplex(each="sample"), cn.Monotone()],
        [cn.Box(-0.5, 0.7), cn.FactorNorm(1.0)],
        [PLUS, cn.FactorSum(1.0), cn.FactorNorm(0.6)],
    ],
    ids=str,
)
def test_a_point_of_convex_sets_is_hardly_farther_than_the_nearest(stated):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((3, 4))
        parts = find_parts(stated)
        assert len(parts) == 2
        found = alternate(parts, stated, X, 1e-9)
        assert all(constraint.violation(found).max() <= 1e-9 for constraint in stated)
        wanted = nearest_by_cvxpy(X, *stated)
        assert np.linalg.norm(X - found) <= 1.05 * np.linalg.norm(X - wanted)


def test_sets_that_are_not_convex_meet_where_they_can():
    stated = [PLUS, cn.Unimodal(), cn.Simplex(each="sample")]
    X = np.random.default_rng(1).random((3, 6))
    found = alternate(find_parts(stated), stated, X, 1e-9)
    assert all(constraint.violation(found).max() <= 1e-9 for constraint in stated)


def test_where_sets_meet_does_not_hang_on_the_order_in_which_they_are_listed():
    fixed = cn.Fixed(np.arange(8)[None] == 3, 0.1)
    stated = [PLUS, cn.Simplex(each="component"), cn.Sparseness(min=0.4), fixed]
    X = np.random.default_rng(0).random((1, 8))
    met = [alternate(find_parts(own), own, X, 1e-9) for own in (stated, stated[::-1])]
    np.testing.assert_array_equal(*met)


def test_a_set_without_a_projection_has_no_parts():
    assert find_parts([PLUS, cn.Convex(lambda X: X[0] <= 1)]) is None


def test_a_start_is_brought_into_sets_without_a_cone_form():
    V = np.random.default_rng(2).random((6, 9))
    problem = cn.factorize(V, 2, H=[PLUS, cn.Unimodal(), cn.NormBall(0.5)])
    start = problem.start(None, np.random.default_rng(0))
    assert problem.violation(start) <= 1e-6


def test_sets_that_are_not_convex_and_do_not_meet_are_left_soon():
    """One entry of three cannot be as even as two."""
    stated = [cn.NonNegative(), cn.Cardinality(1), cn.Sparseness(max=0.3)]
    count = []

    def counted(part):
        def project(B, rows):
            count.append(1)
            return part.apply(B, rows)

        return replace(part, apply=project)

    parts = [counted(part) for part in find_parts(stated)]
    alternate(parts, stated, np.array([[3.0, 2.0, 1.0]]), 1e-9)
    assert len(count) <= 60 * len(parts)
