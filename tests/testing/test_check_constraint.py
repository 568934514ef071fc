"""`check_constraint` accepts what is right and names what is wrong."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.terms import Constraint, Each, Example, Halfspaces
from conicnmf.testing import check_constraint


@dataclass(frozen=True)
class SumAtMost(Constraint):
    """A newcomer's constraint, right in every respect: each component sums to at most one."""

    each: Each = "component"

    def violation(self, B):
        return np.maximum(B.sum(axis=1) - 1, 0.0)

    def cone(self, B):
        return [cp.sum(B, axis=1) <= 1]

    def project(self, B):
        excess = np.maximum(B.sum(axis=1, keepdims=True) - 1, 0)
        return B - excess / B.dtype.type(B.shape[1])

    @classmethod
    def examples(cls):
        inside = np.array([[0.25, 0.5, -2.0], [0.0, 1.0, 0.0]])
        return [Example(cls(), inside, inside + 3)]


def broken(**changes):
    """Return SumAtMost with some of its members replaced."""
    return type("Broken", (SumAtMost,), changes)


def halve_in_place(self, B):
    B /= 2
    return SumAtMost.project(self, B)


def lean(self, B):
    """Reach the plane along another direction than its normal, by a little."""
    excess = np.maximum(B.sum(axis=1, keepdims=True) - 1, 0)
    return B - excess * np.array([0.33, 0.33, 0.34], dtype=B.dtype)


MISTAKES = {
    "has no examples": broken(examples=classmethod(lambda cls: [])),
    "at its own inside point": broken(violation=lambda self, B: np.ones(len(B))),
    "at its own outside point": broken(violation=lambda self, B: np.zeros(len(B))),
    "one number for each piece": broken(
        violation=lambda self, B: np.maximum(B.sum(axis=1, keepdims=True) - 1, 0.0)
    ),
    "cone fails by": broken(cone=lambda self, B: [cp.sum(B, axis=1) <= -5]),
    "cone holds where": broken(cone=lambda self, B: [cp.sum(B) <= 100]),
    "breaks CVXPY's rules": broken(cone=lambda self, B: [cp.norm(B, 2, axis=1) >= 1]),
    "changed its input": broken(project=halve_in_place),
    "leaves a violation": broken(project=lambda self, B: B.copy()),
    "a point nearer than its projection": broken(project=lambda self, B: np.minimum(B, 0)),
    "and CVXPY disagree": broken(project=lean),
    "turns float32 into float64": broken(
        project=lambda self, B: SumAtMost.project(self, B.astype(float))
    ),
    "moves its own point": broken(project=lambda self, B: SumAtMost.project(self, B) - 1),
    'says each="component"': broken(
        violation=lambda self, B: np.full(len(B), SumAtMost.violation(self, B).max())
    ),
    "claims 'tangent' but": broken(tangent=lambda self: None),
    "answers 'project' without claiming it": broken(abilities=frozenset({"cone"})),
    "twice differs": broken(
        transposed=lambda self: self if hasattr(self, "turned") else Turned(),
    ),
}


class Turned(SumAtMost):
    turned = True

    def violation(self, B):
        return SumAtMost.violation(self, 2 * B)


def test_a_right_constraint_passes():
    check_constraint(SumAtMost)


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_named(sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_constraint(MISTAKES[sentence])


@dataclass(frozen=True)
class LongRows(Constraint):
    """Each component has norm at least one: reverse-convex."""

    each: Each = "component"

    @property
    def convex(self):
        return False

    def violation(self, B):
        return np.maximum(1 - np.linalg.norm(B, axis=1), 0.0)

    def cone(self, B):
        return []

    def tangent(self, P):
        # Right for cones only: the plane through zero leaves the set near zero.
        return Halfspaces(P, self.each)

    def project(self, B):
        norms = np.linalg.norm(B, axis=1, keepdims=True)
        return B / np.minimum(norms, 1)

    @classmethod
    def examples(cls):
        return [Example(cls(), np.array([[1.0, 1.0]]), np.array([[0.1, 0.5]]))]


def test_tangent_planes_that_hold_points_outside_are_named():
    with pytest.raises(AssertionError, match="must lie inside the set"):
        check_constraint(LongRows)


def test_tangent_planes_that_lose_their_point_are_named():
    class Turned(LongRows):
        def tangent(self, P):
            return Halfspaces(-P, self.each)

    with pytest.raises(AssertionError, match="cuts off the point"):
        check_constraint(Turned)


def test_a_false_claim_of_convexity_is_found():
    class Claimed(LongRows):
        convex = True
        cone = None

        @property
        def abilities(self):
            return frozenset({"project", "tangent"})

    with pytest.raises(AssertionError, match="says it is convex"):
        check_constraint(
            [Example(Claimed(), np.array([[0.6, 0.8], [-0.6, -0.8]]), np.full((2, 2), 0.1))]
        )


def test_entrywise_bounds_that_do_not_follow_the_transpose_are_found():
    class Stuck(cn.Box):
        def transposed(self):
            return self

    upper = np.array([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(AssertionError, match="is another set"):
        check_constraint([Example(Stuck(0, upper), upper / 2, upper + 1)])


def test_sets_that_are_cones_on_the_orthant_are_told_how_to_be_checked():
    class Unclaimed(cn.Sparseness):
        orthant_only = False

    with pytest.raises(AssertionError, match="claim orthant_only"):
        check_constraint([Example(Unclaimed(max=0.5), np.ones((1, 9)), np.eye(1, 9))])


def test_a_false_claim_that_signs_do_not_matter_is_found():
    with pytest.raises(AssertionError, match="says it is sign-free"):
        check_constraint(broken(sign_free=True))
