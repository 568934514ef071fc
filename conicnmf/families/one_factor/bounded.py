"""Whether max wᵀAw over w ≥ 0 with wᵀBw ≤ 1 is finite when B is singular."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from conicnmf.model.operators import Operator, dense
from conicnmf.types import Array, Data

_TOLERANCE, _RISES = 1e-7, 1e-3


def unbounded_direction(L: Data, A: Operator) -> Array | None:
    """Return w ≥ 0 with Bw = 0 and wᵀAw > 0 for B = LLᵀ, or nothing when none is found.

    The w in question are a polyhedral cone {w ≥ 0, Lᵀw = 0}, and linear programs say whether it
    holds a w that a direction g of A sees. Where A is positive semi-definite, wᵀAw is positive there.
    Else it may fall nevertheless, and is looked at.

    Examples
    --------
    >>> from conicnmf.model.operators import as_operator
    >>> unbounded_direction(np.array([[1.0], [0.0]]), as_operator(np.eye(2), "A"))
    array([0., 1.])
    """
    L, G = dense(L), A.directions
    for objective in [np.ones(len(L)), *(sign * g for g in G.T for sign in (1.0, -1.0))]:
        w = _largest(objective, L)
        if w is None:
            return None  # no w at all is in the null space
        seen = G.T @ w
        if np.abs(seen).max(initial=0.0) <= _TOLERANCE * np.linalg.norm(G):
            continue
        if w @ (A @ w[:, None])[:, 0] > _RISES * (seen @ seen):
            return w
    return None


def _largest(objective: Array, L: Array) -> Array | None:
    """Return the w in the box [0, 1] with Lᵀw = 0 that maximizes ⟨objective, w⟩, if w ≠ 0."""
    unit = L / np.linalg.norm(L, axis=0) if L.size else L
    size = np.abs(objective).max(initial=0.0) or 1.0
    equal = {"A_eq": unit.T, "b_eq": np.zeros(L.shape[1])} if L.shape[1] else {}
    found = linprog(-objective / size, bounds=(0, 1), method="highs", **equal)
    if found.x is None:
        return None
    w = np.maximum(found.x, 0.0)
    return w if w.max(initial=0.0) > _TOLERANCE else None
