"""Functions that users write into `Convex` and `ConvexPenalty` are tried when the problem is made."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = np.random.default_rng(0).random((6, 5))
OTHER = cp.Variable((6, 2), name="other")


@pytest.mark.parametrize(
    ("term", "says"),
    [
        (cn.Convex(lambda W: W <= OTHER), "about its own factor only, got other in it too; use"),
        (cn.ConvexPenalty(lambda W: cp.sum(W - OTHER)), "only, got other in it too"),
        (cn.Convex(lambda W: 3), "must return constraints, got TypeError: 'int' object"),  # type: ignore[arg-type, return-value]
        (cn.Convex(lambda W: [True]), "must return constraints, got True; write it with CVXPY"),  # type: ignore[list-item]
        (cn.Convex(lambda W: W @ W >= 0), "got ValueError: Incompatible dimensions (6, 2) (6, 2);"),
        (cn.ConvexPenalty(lambda W: "x"), "must return a convex scalar, got 'x'; write it"),
        (cn.ConvexPenalty(lambda: 3), "got TypeError"),  # type: ignore[arg-type]
    ],
)
def test_what_a_function_states_is_checked(term: Any, says: str) -> None:
    with pytest.raises(cn.ModelError) as caught:
        cn.factorize(V, 2, W=[cn.NonNegative(), term])
    assert says in str(caught.value)
    assert repr(term) in str(caught.value)
