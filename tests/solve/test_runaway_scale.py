"""Penalties that melt away while the other factor grows."""

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.estimators import NMF

N = cn.NonNegative()
V = np.random.default_rng(0).random((6, 9))


def test_the_penalty_does_melt_away_and_it_is_said_everywhere():
    problem = cn.factorize(V, 2, H=[N, cn.L1(0.1)])
    assert "Note: the scale of W is free, so L1(weight=0.1) on H goes to zero" in problem.explain()
    with pytest.warns(UserWarning, match=r"add UnitNorm\(\) or NormBall\(1\) to W"):
        result = problem.solve(stop=5)
    assert any("grows without bound" in remark for remark in result.remarks)
    W, H = result.W, result.H
    values = [problem.objective({"W": W * c, "H": H / c}) for c in (1.0, 10.0, 100.0)]
    assert values[0] > values[1] > values[2]


@pytest.mark.parametrize(
    "terms",
    [
        {"H": [N, cn.L1(0.1)], "W": [N, cn.UnitNorm()]},
        {"H": [N, cn.LogSum(0.1)], "W": [N, cn.NormBall()]},
        {"H": [N, cn.L1(0.1)], "W": [N, cn.L2(0.1)]},
        {"H": [N, cn.Simplex(), cn.L2(0.1)], "W": [N]},
        {"H": [N], "W": [N, cn.SparsenessReward(0.1)]},
    ],
)
def test_statements_whose_scale_is_held_say_nothing(terms, recwarn):
    problem = cn.factorize(V, 2, **terms)
    assert "grows without bound" not in problem.explain()
    assert not problem.solve(stop=2).remarks
    assert not recwarn.list


def test_penalties_on_the_first_factor_and_concave_ones_are_found():
    left = cn.factorize(V, 2, W=[N, cn.CappedL1(0.1)], H=[N, cn.Sparseness(min=0.3)])
    assert "the scale of H is free, so CappedL1(weight=0.1, cap=1.0) on W" in left.explain()


def test_the_estimator_of_scikit_learn_is_silent(recwarn):
    NMF(2, alpha_W=0.0, alpha_H=0.1, l1_ratio=1.0, max_iter=5, tol=0).fit(V.T)
    assert not recwarn.list
