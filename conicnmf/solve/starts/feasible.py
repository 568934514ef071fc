"""Bring any starting factors into the constraint set, and to where losses are finite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.constraints.alternating import alternate, find_parts
from conicnmf.model.losses import Frobenius
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import INSIDE
from conicnmf.solve.needs import signed
from conicnmf.solve.programs.closing import settle
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.signed import magnitudes
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step, with_interior
from conicnmf.solve.starts.positive import positive_start
from conicnmf.types import Array, Factors, Mask


def feasible_start(problem: Problem, factors: Factors, rng: np.random.Generator) -> Factors:
    """Project each factor into its constraints, exactly where the projection is known."""
    given = factors
    for block in problem.blocks:
        B = block.rows(factors)
        other = problem.partner(block)
        if other is not None:
            # Few methods bring a component to life that is zero in both factors.
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


def nearest(block: Block, B: Array) -> Array:
    """Return a near point in all constraints of a block, the nearest where a projection is known."""
    if block.projection is not None:
        return block.projection(B)
    if signed(block):
        return np.copysign(nearest(magnitudes(block), np.abs(B)), B)
    approached = [c for c in block.constraints if "approach" in c.abilities]
    if approached:
        others = tuple(c for c in block.constraints if c not in approached)
        B = nearest(replace(block, constraints=others), B)
        for constraint in approached:
            B = constraint.approach(B)
        return B
    parts = find_parts(block.constraints)
    if parts is not None:
        between = alternate(parts, block.constraints, B, INSIDE)
        if block.violation(between) <= INSIDE:
            return between
    eye = np.eye(block.shape[0])
    near, held = fitted_block(block.name, B, eye, Frobenius(), with_interior(block).constraints)
    outcome = tangent_step(BlockProgram(near).at(held), B, TangentLoop(rounds=1))
    if outcome.B is None and not any(r.ok or r.infeasible for r in outcome.records):
        return B  # backends that fail say nothing of the constraints; the start is outside them
    settled = None if outcome.infeasible else settle(block, B if outcome.B is None else outcome.B).B
    found = outcome.B if settled is None else settled
    if found is None:
        listed = ", ".join(map(str, block.constraints))
        how = "contradict each other" if outcome.infeasible else "could not be met together"
        raise InfeasibleError(
            f"the constraints on {block.name} {how}: {listed}; relax or drop one of them"
        )
    return found.astype(B.dtype)
