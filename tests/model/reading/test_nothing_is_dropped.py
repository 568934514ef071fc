"""Whatever is stated counts: the objective and every constraint, evaluated by CVXPY itself."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn

M, N, R = 6, 5, 3
V = np.random.default_rng(0).random((M, N)) + 0.1
MASK = (np.random.default_rng(1).random((M, N)) < 0.8).astype(float)
KNOWN = np.linspace(0.2, 0.4, M)

LOSSES = {
    "squares": lambda W, H: cp.sum_squares(V - W @ H),
    "half of them": lambda W, H: cp.sum_squares(V - W @ H) / 2 - 7,
    "masked": lambda W, H: cp.sum_squares(cp.multiply(MASK, V - W @ H)),
    "weighted": lambda W, H: cp.sum(cp.multiply(V, cp.square(W @ H - V))),
    "mask on the model": lambda W, H: cp.sum_squares(V - cp.multiply(MASK, W @ H)),
    "Huber": lambda W, H: cp.sum(cp.huber(V - W @ H, 0.2)),
    "divergence": lambda W, H: cp.sum(cp.kl_div(V, W @ H)),
}
PENALTIES = {
    "sum": lambda W, H: 0.1 * cp.sum(H),
    "squares": lambda W, H: 0.1 * cp.sum_squares(W) + 2,
    "rough": lambda W, H: cp.sum_squares(cp.diff(H, axis=1)) / 3,
    "groups": lambda W, H: 0.1 * cp.sum(cp.norm(W, 2, axis=0)),
    "largest": lambda W, H: 0.1 * cp.square(cp.max(H)),
    "reward": lambda W, H: -0.01 * cp.sum(W),
}
# All of these hold together, for example at W = KNOWN in every column and H = 1/3.
CONSTRAINTS: dict[str, Any] = {
    "sums of samples": lambda W, H: cp.sum(H, axis=0) == 1,
    "fixed column": lambda W, H: W[:, 0] == KNOWN,
    "fixed entry": lambda W, H: H[0, 1] == 1 / 3,
    "box": lambda W, H: W <= 0.9,
    "smooth": lambda W, H: cp.abs(cp.diff(W, axis=0)) <= 0.3,
    "short": lambda W, H: cp.norm(W, 2, axis=0) <= 1.5,
    "total": lambda W, H: cp.sum(W) <= 9,
    "equal": lambda W, H: H[:, 0] == H[:, 2],
    "one-norms": lambda W, H: cp.norm(H, 1, axis=1) <= 4,
    "entropy": lambda W, H: cp.sum(cp.entr(H), axis=0) >= 0.2,
    "ordered": lambda W, H: W[-1] >= W[0],
    "dense": lambda W, H: cn.sparseness(W, axis=0) <= 0.7,
}
SOME = st.lists(st.sampled_from(sorted(CONSTRAINTS)), max_size=4, unique=True)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(LOSSES)),
    st.lists(st.sampled_from(sorted(PENALTIES)), max_size=2, unique=True),
    SOME,
)
def test_the_result_is_that_of_the_stated_problem(
    loss: str, penalties: list[str], constraints: list[str]
) -> None:
    W, H = cp.Variable((M, R), nonneg=True), cp.Variable((R, N), nonneg=True)
    stated = sum((PENALTIES[name](W, H) for name in penalties), LOSSES[loss](W, H))
    conditions = [CONSTRAINTS[name](W, H) for name in constraints]
    result = cn.Problem(cp.Minimize(stated), conditions).solve(cn.TangentPlane(), stop=2)
    W.value, H.value = result.W, result.H
    assert result.objective == pytest.approx(float(stated.value), rel=1e-8, abs=1e-12)
    assert result.objective <= result.history[0].objective + 1e-6
    for condition in conditions:
        if isinstance(condition, cp.Constraint):
            assert np.max(condition.violation()) < 1e-6
        else:
            assert (cn.sparseness(result.W, axis=0) <= 0.7 + 1e-6).all()
    assert result.max_violation < 1e-6


@settings(max_examples=10, deadline=None, derandomize=True)
@given(SOME)
def test_an_update_is_the_minimum_that_cvxpy_finds(constraints: list[str]) -> None:
    """With W fixed, the H of a solve is the minimizer over the constraints as they were written."""
    W, H = cp.Variable((M, R), nonneg=True), cp.Variable((R, N), nonneg=True)
    stated = cp.sum_squares(V - W @ H) + 0.1 * cp.sum(H)
    conditions = [CONSTRAINTS[name](W, H) for name in constraints]
    result = cn.Problem(cp.Minimize(stated), conditions).solve(cn.TangentPlane(), stop=1)
    about_h = [c for c in conditions if isinstance(c, cp.Constraint) and c.variables()[0] is H]
    fixed = stated.tree_copy({id(W): cp.Constant(result.W)})
    best = cp.Problem(cp.Minimize(fixed), about_h).solve(solver="CLARABEL")
    assert result.history[-1].objective == pytest.approx(best, rel=1e-5)
