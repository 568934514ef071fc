"""Whether max wᵀAw over w ≥ 0 with wᵀBw ≤ 1 is finite when B is singular."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from conicnmf.model.operators import dense
from conicnmf.types import Array, Data

_TOLERANCE = 1e-7


def unbounded_direction(L: Data, G: Array) -> Array | None:
    """Return w ≥ 0 with Bw = 0 and Aw ≠ 0 for B = LLᵀ and A = GGᵀ, or nothing when there is none.

    The w in question are a polyhedral cone {w ≥ 0, Lᵀw = 0}, and linear programs say whether it
    holds a w that a direction g of A sees.

    Examples
    --------
    >>> unbounded_direction(np.array([[1.0], [0.0]]), np.eye(2))
    array([0., 1.])
    """
    L = dense(L)
    for objective in [np.ones(len(L)), *(sign * g for g in G.T for sign in (1.0, -1.0))]:
        w = _largest(objective, L)
        if w is None:
            return None  # no w at all is in the null space
        if np.abs(G.T @ w).max(initial=0.0) > _TOLERANCE * np.linalg.norm(G):
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
