"""A block of any convex loss under any convex term with a closed form ends where CVXPY does."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(11)
V, A = 0.2 + RNG.random((6, 5)), 0.1 + RNG.random((6, 2))
M = 0.2 + RNG.random(V.shape) * (RNG.random(V.shape) < 0.8)
LOSSES = {
    "squares": cn.Frobenius(),
    "weighted": cn.WeightedFrobenius(M),
    "counts": cn.KullbackLeibler(),
    "weighted counts": cn.KullbackLeibler(weights=M),
    "power": cn.BetaDivergence(1.5),
    "huber": cn.Huber(0.1),
    "weighted huber": cn.Huber(0.1, weights=M),
    "absolute": cn.Absolute(),
    "weighted absolute": cn.Absolute(weights=M),
    "logistic": cn.Logistic(),
}
CHAIN = np.diag([1.0, 2.0, 2.0, 2.0, 1.0]) - np.eye(5, k=1) - np.eye(5, k=-1)
TERMS = {
    "none": [],
    "sum": [cn.L1(0.1)],
    "squares": [cn.L2(0.1)],
    "smooth": [cn.Smooth(0.2)],
    "total variation": [cn.TotalVariation(0.1)],
    "groups": [cn.GroupLasso(0.1, np.array([0, 0, 1, 1, 1]))],
    "components": [cn.L21(0.1)],
    "samples": [cn.L21(0.1, each="sample")],
    "graph": [cn.GraphLaplacian(0.1, CHAIN)],
    "nuclear": [cn.Nuclear(0.1)],
    "monotone": [cn.Monotone()],
    "simplex": [cn.Simplex()],
    "simplex a sample": [cn.Simplex(each="sample")],
    "ball": [cn.NormBall(1.0)],
    "whole sum": [cn.FactorSum(3.0)],
    "whole norm": [cn.FactorNorm(1.0)],
    "box": [cn.Box(0.1, 0.6)],
}


def least(problem: cn.Problem, Y: Any) -> float:
    """Return what CVXPY finds for H."""
    block = problem.blocks[1]
    X = cp.Variable(block.shape)
    cost = problem.fits[0].loss.expression(Y, A, X)
    cost += sum(own.expression(X) for own in block.penalties)
    kept = [part for own in block.constraints for part in own.cone(X)]
    return float(cp.Problem(cp.Minimize(cost), kept).solve(solver="CLARABEL"))


def check(loss: str, term: str) -> None:
    """Solve for H with W known, by the default solver and by CVXPY."""
    Y = (V.mean() < V) * 1.0 if loss == "logistic" else V
    H = [cn.NonNegative(), *TERMS[term]]
    problem = cn.factorize(Y, 2, loss=LOSSES[loss], W=[cn.Fixed(A > 0, A)], H=H)
    start = A, np.full((2, 5), 0.3)
    found = problem.solve(init=start, stop=cn.RelDecrease(1e-10, patience=10) | 1000)
    assert found.max_violation <= 1e-6
    assert found.objective == pytest.approx(least(problem, Y), rel=1e-6, abs=1e-7)


PAIRS = [(loss, term) for loss in LOSSES for term in TERMS]
FEW = PAIRS[
    ::7
]  # seven divides neither the number of losses nor that of terms: each one takes part


@pytest.mark.parametrize(("loss", "term"), FEW)
def test_a_block_ends_where_cvxpy_does(loss, term):
    check(loss, term)


@pytest.mark.long
@pytest.mark.parametrize(("loss", "term"), [pair for pair in PAIRS if pair not in FEW])
def test_every_other_block_ends_where_cvxpy_does(loss, term):
    check(loss, term)
