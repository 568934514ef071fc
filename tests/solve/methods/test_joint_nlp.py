from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from problems import sparse_problem

import conicnmf as cn
from conicnmf.solve.methods import joint_nlp


def test_without_a_non_linear_solver_it_refuses_and_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["CLARABEL"])
    with pytest.raises(cn.IncompatibleError, match=r"pip install 'conicnmf\[nlp\]'"):
        sparse_problem().solve(cn.JointNLP())


@pytest.mark.skipif(joint_nlp.nlp_backend() is None, reason="no non-linear solver is installed")
def test_it_ends_at_a_point_that_the_cone_solvers_certify():
    problem = sparse_problem(m=12, n=10)
    result = problem.solve(cn.JointNLP())
    assert result.objective < result.history.objective[0]
    assert result.certificate().ok, str(result.certificate())


@pytest.mark.skipif(joint_nlp.nlp_backend() is None, reason="no non-linear solver is installed")
def test_the_joint_baseline_knows_upper_bounds_and_single_precision():
    V = np.random.default_rng(0).random((8, 6)).astype(np.float32)
    problem = cn.factorize(V, 2, H=[cn.NonNegative(), cn.Sparseness(max=0.5)])
    assert problem.solve(cn.JointNLP(), throw=False).W.dtype == np.float32
