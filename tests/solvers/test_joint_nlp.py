from __future__ import annotations

import cvxpy as cp
import pytest
from problems import sparse_problem

import conicnmf as cn
from conicnmf.solvers import joint_nlp


def test_without_a_non_linear_solver_it_refuses_and_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["CLARABEL"])
    with pytest.raises(cn.IncompatibleError, match=r"pip install 'conicnmf\[nlp\]'"):
        sparse_problem().solve(cn.JointNLP())


@pytest.mark.skipif(joint_nlp.nlp_backend() is None, reason="no non-linear solver is installed")
def test_it_reaches_what_the_alternating_methods_reach():
    problem = sparse_problem(m=12, n=10)
    joint = cn.multistart(problem, cn.JointNLP(), 4).best
    best = cn.multistart(problem, cn.Chain((cn.TangentPlane(), cn.HALS())), 5).best
    assert joint.max_violation < 1e-6
    assert joint.objective <= 1.2 * best.objective
