"""Bring any starting factors into the constraint set, and to where losses are finite."""

from __future__ import annotations

import numpy as np

from conicnmf.model.problem import Problem
from conicnmf.solve.starts.nearest import nearest
from conicnmf.solve.starts.positive import positive_start
from conicnmf.types import Array, Factors, Mask


def feasible_start(problem: Problem, factors: Factors, rng: np.random.Generator) -> Factors:
    """Project each factor into its constraints, exactly where the projection is known."""
    given = factors
    for block in problem.blocks:
        B = block.rows(factors)
        other = problem.partner(block)
        if other is not None and not (block.penalties or other.penalties):
            # Few methods bring a component to life that is zero in both factors. Where it has a
            # price, zero may be its best.
            B = _filled(B, _dead(B) & _dead(other.rows(given)), np.abs(B).max(), rng)
        for axis in sorted(block.zero_forbidden, reverse=True):
            rows = B if axis == 1 else B.T
            rows = _filled(rows, _dead(rows), np.abs(B).max() or 1.0, rng)
            B = rows if axis == 1 else rows.T
        factors = block.put(factors, nearest(block, B))
    return positive_start(problem, factors, rng)


def _dead(B: Array) -> Mask:
    """Return which rows are zero."""
    return np.asarray(~B.any(axis=1))


def _filled(B: Array, dead: Mask, size: float, rng: np.random.Generator) -> Array:
    """Return B with random numbers up to `size` in its dead rows."""
    if not dead.any() or not size:
        return B
    filled = B.copy()
    filled[dead] = size * rng.random((int(dead.sum()), B.shape[1]))
    return filled
