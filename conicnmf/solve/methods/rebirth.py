"""Bring dead components to life where that lowers the objective, penalties included.

With a penalty no part of a component may be set for free, as `revive` does it. So both parts are
tried: one points at what the model explains worst, then each takes a few steps with the rest held,
and the component is kept if the stated objective is lower for it.
"""

from __future__ import annotations

import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import feasible_within
from conicnmf.solve.methods.revive import data_of, worst_explained
from conicnmf.types import Array, Factors

_ROUNDS = 3
_LENGTHS = (0.5, 1.0, 2.0)
_WORTH = 1e-6
"""A component must lower the objective by this part of it to be kept."""


def reborn(problem: Problem, factors: Factors) -> Factors | None:
    """Return a better point with work for components that had none, nothing where there is none."""
    found = factors
    for block in problem.blocks:
        other = problem.partner(block)
        if other is None or not (_can_step(block) and _can_step(other)):
            continue
        dead = ~(block.rows(found).any(axis=1) & other.rows(found).any(axis=1))
        for j in np.flatnonzero(dead):
            tried = _tried(problem, block, other, found, int(j))
            if tried is None:
                break  # what one cannot do, the others cannot either
            found = tried
    return None if found is factors else found


def _can_step(block: Block) -> bool:
    """Whether one component may move alone, along the gradient and back into its constraints."""
    smooth = all("gradient" in part.abilities for part in block.penalties)
    kept = block.by_component and block.projection is not None and not block.capped
    return kept and smooth and "gradient" in block.abilities


def _tried(
    problem: Problem, block: Block, other: Block, factors: Factors, j: int
) -> Factors | None:
    """Return the factors with component j at work, nothing where it is not worth its price."""
    B, A = block.rows(factors).copy(), other.rows(factors).copy()
    A[j] = 0.0 if other.zero_allowed else A[j]
    B[j] = 0.0 if block.zero_allowed else B[j]
    worst = worst_explained(data_of(block), A.T, B, 1, signed=not block.nonneg)[0]
    assert block.projection is not None
    B[j] = worst
    B[j] = block.projection(B, slice(j, j + 1))[0]
    point = block.put(other.put(factors, A), B)
    for _ in range(_ROUNDS):
        for own in (other, block):
            point = own.put(point, _stepped(own.given(point), own.rows(point), j))
    before, after = problem.objective(factors), problem.objective(point)
    lower = before - after > _WORTH * abs(before)
    return point if lower and problem.violation(point) <= feasible_within(point) else None


def _stepped(held: Subproblem, B: Array, j: int) -> Array:
    """Return B with row j moved along its gradient, as far as a quadratic through two points says."""
    slope, value = held.gradient(B)[j], held.objective(B)
    # Where all other components are as good as zero, a safe step has no length; its square must.
    square, first = float(np.vdot(slope, slope)), min(held.step_size, 1e100)
    if not square:
        return B
    trial = held.objective(_moved(held.block, B, j, -first * slope, projected=False))
    bend = trial - value + square * first
    length = 0.5 * square * first**2 / bend if bend > 0 and np.isfinite(bend) else first
    ends = [_moved(held.block, B, j, -part * length * slope) for part in _LENGTHS]
    return min([B, *ends], key=held.objective)


def _moved(block: Block, B: Array, j: int, step: Array, projected: bool = True) -> Array:
    new = B.copy()
    new[j] += step.astype(B.dtype)
    if projected:
        assert block.projection is not None
        new[j] = block.projection(new, slice(j, j + 1))[0]
    return new
