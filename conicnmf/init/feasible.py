"""Bring any starting factors into the constraint set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block, Blocks, Factors
from conicnmf.conic.program import BlockProgram
from conicnmf.conic.tangent import TangentLoop, tangent_step, with_interior
from conicnmf.errors import InfeasibleError
from conicnmf.losses import Frobenius


def feasible_start(blocks: Blocks, factors: Factors, rng: np.random.Generator) -> Factors:
    """Project each factor into its constraints, exactly where the projection is known."""
    for block in blocks:
        _, B = blocks.view(block, factors)
        B = _without_zeros(B, rng)
        if any(constraint.each == "sample" for constraint in block.constraints):
            B = _without_zeros(B.T, rng).T
        factors = blocks.put(block, factors, _nearest(block, B))
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
    near = replace(with_interior(block), Y=B, loss=Frobenius(), penalties=())
    outcome = tangent_step(BlockProgram(near).at(eye), B, TangentLoop(rounds=1))
    if outcome.B is None:
        listed = ", ".join(map(str, block.constraints))
        how = "contradict each other" if outcome.infeasible else "could not be met together"
        raise InfeasibleError(
            f"the constraints on {block.name} {how}: {listed}; relax or drop one of them"
        )
    return outcome.B.astype(B.dtype)
