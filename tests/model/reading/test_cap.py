"""`loss <= constant` is the one constraint that may speak of both factors."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = cn.datasets.low_rank(12, 10, 3, seed=0).V
W, H = cp.Variable((12, 3), nonneg=True), cp.Variable((3, 10), nonneg=True)
LOSS = 2 * cp.sum_squares(V - W @ H)


def stated(constraint):
    return cn.Problem(cp.Minimize(LOSS + 5 * cp.sum(H)), [constraint])


@pytest.mark.parametrize(
    ("constraint", "cap"),
    [
        (cp.sum_squares(V - W @ H) <= 0.5, 1.0),
        (LOSS <= 0.5, 0.5),
        (cp.norm(V - W @ H, "fro") <= 0.5, 0.5),
        (2 * cp.sum_squares(W @ H - V) - 1 <= 0, 1.0),
        (-cp.sum_squares(V - W @ H) >= -0.5, 1.0),
    ],
    ids=str,
)
def test_every_spelling_caps_the_loss_in_its_own_units(constraint, cap):
    assert stated(constraint).loss.cap == pytest.approx(cap)


def test_the_cap_holds_where_the_penalty_would_break_it():
    capped = stated(cp.sum_squares(V - W @ H) <= 0.5).solve(cn.TangentPlane(), stop=15)
    assert np.sum((V - capped.W @ capped.H) ** 2) <= 0.5 * (1 + 1e-6)
    free = cn.Problem(cp.Minimize(LOSS + 5 * cp.sum(H))).solve(cn.HALS())
    assert np.sum((V - free.W @ free.H) ** 2) > 0.5


@pytest.mark.parametrize(
    "constraint", [cp.sum_squares(W @ H) <= 0.5, cp.sum(W) <= cp.sum(H), cp.sum(W) == cp.sum(H)]
)
def test_other_constraints_on_both_factors_are_refused(constraint):
    with pytest.raises(
        cn.ModelError, match="mentions several, and is not an upper bound on a loss"
    ):
        stated(constraint)


def test_a_cap_below_zero_is_infeasible():
    with pytest.raises(cn.InfeasibleError, match="cannot be at most"):
        stated(cp.norm(V - W @ H, "fro") <= -1)
