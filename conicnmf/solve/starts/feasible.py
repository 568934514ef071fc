"""Bring any starting factors into the constraint set."""

from __future__ import annotations

import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.losses import Frobenius
from conicnmf.model.problem import Problem
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step, with_interior
from conicnmf.types import Array, Factors


def feasible_start(problem: Problem, factors: Factors, rng: np.random.Generator) -> Factors:
    """Project each factor into its constraints, exactly where the projection is known."""
    for block in problem.blocks:
        B = _without_zeros(block.rows(factors), rng)
        if any(constraint.each == "sample" for constraint in block.constraints):
            B = _without_zeros(B.T, rng).T
        factors = block.put(factors, _nearest(block, B))
    return factors


def _without_zeros(B: Array, rng: np.random.Generator) -> Array:
    """Fill dead rows: sparseness and norms are undefined at zero."""
    dead = ~B.any(axis=1)
    if not dead.any() or dead.all():
        return B
    filled = B.copy()
    filled[dead] = np.abs(B).max() * rng.random((int(dead.sum()), B.shape[1]))
    return filled


def _nearest(block: Block, B: Array) -> Array:
    if block.projection is not None:
        return block.projection(B)
    eye = np.eye(block.shape[0])
    near, held = fitted_block(block.name, B, eye, Frobenius(), with_interior(block).constraints)
    outcome = tangent_step(BlockProgram(near).at(held), B, TangentLoop(rounds=1))
    if outcome.B is None:
        listed = ", ".join(map(str, block.constraints))
        how = "contradict each other" if outcome.infeasible else "could not be met together"
        raise InfeasibleError(
            f"the constraints on {block.name} {how}: {listed}; relax or drop one of them"
        )
    return outcome.B.astype(B.dtype)
