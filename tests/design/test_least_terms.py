"""A term of yours that defines the least that pages ask for is solved, with no word of scales."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import Constraint

V = np.random.default_rng(0).random((8, 11))


@dataclass(frozen=True)
class SumAtMost(Constraint):
    """Each component sums to at most `most`."""

    most: float = 2.0
    each = "component"

    def violation(self, B):
        return np.maximum(B.sum(axis=1) - self.most, 0) / self.most

    def cone(self, B):
        return [cp.sum(B, axis=1) <= self.most]


@pytest.mark.parametrize("scale", [1.0, 2.0**40])
@pytest.mark.parametrize("name", ["W", "H"])
def test_a_constraint_with_a_cone_alone_is_what_the_same_one_of_cvxpy_is(name, scale):
    axis = 0 if name == "W" else 1
    stated = cn.Convex(lambda X: cp.sum(X, axis=axis) <= 2.0)
    ends = []
    for own in (SumAtMost(), stated):
        result = cn.factorize(V * scale, 2, **{name: [cn.NonNegative(), own]}).solve(
            "TangentPlane", seed=0, stop=30
        )
        assert result[name].sum(axis=axis).max() <= 2.0 * (1 + 1e-6)
        ends.append(result.objective)
    assert ends[0] == pytest.approx(ends[1], rel=1e-2)


def test_it_begins_feasible_where_nothing_is_told_of_multiples():
    problem = cn.factorize(V, 3, W=[cn.NonNegative(), SumAtMost(0.5)])
    assert problem.violation(problem.start(None, np.random.default_rng(0))) <= 1e-6
    assert problem.solve(stop=5).max_violation <= 1e-6
