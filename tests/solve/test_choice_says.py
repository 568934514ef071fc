"""What is said of solvers that do not fit: the nearest ones, and no reason that is not one."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import ProjectiveNMF
from conicnmf.solve.choice import race

V = np.random.default_rng(0).random((6, 5))


def test_where_no_solver_fits_the_nearest_say_why_and_explain_lists_them_all():
    problem = ProjectiveNMF(V, 2, constraints=[cn.Convex(lambda W: cp.sum(W) <= 1, name="small")])
    with pytest.raises(cn.IncompatibleError) as caught:
        problem.solve()
    says = str(caught.value)
    assert (
        "ProjectedDescent: no joint projection is known for NonNegative() ∧ Convex(small)" in says
    )
    assert "TangentPlane" not in says  # which is for products
    listed = problem.explain()
    assert "no   TangentPlane" in listed
    assert listed.endswith(says)


def test_a_reason_to_pick_cone_programs_does_not_blame_the_constraints():
    problem = cn.factorize(V, 2, H=[cn.NonNegative(), cn.ConvexPenalty(lambda H: cp.norm(H, 2))])
    assert "Splitting is picked: a block that is a convex program" in problem.explain()


@pytest.mark.parametrize(("columns", "raced"), [(20, True), (2000, False)])
def test_supports_are_changed_as_a_whole_where_data_are_small(columns, raced):
    priced = [cn.NonNegative(), cn.NonZeros(0.1)]
    V = np.ones((1000, columns), dtype=np.float32)
    problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.UnitNorm()], H=priced)
    assert ("KSVD" in race(problem, "low").name) == raced
