"""Signed factors with sparseness bands: magnitudes by tangent planes, small signs by a convex step.

Sparseness depends on magnitudes only, so with the signs fixed the magnitudes of a factor are a
non-negative block like any other. Entries that are small may then change sign: with the large
ones fixed, each of them moves freely between its magnitude and its negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.constraints import Box, NonNegative
from conicnmf.solve.programs.program import BlockProgram, Step
from conicnmf.solve.programs.tangent import Outcome, TangentLoop, tangent_step
from conicnmf.solve.programs.upper_cuts import UpperCutProgram
from conicnmf.types import Array

SMALL = 0.05
"""Entries below this part of their component's largest may change sign."""


def magnitudes(block: Block) -> Block:
    """Return the block of the magnitudes of a signed factor."""
    return replace(block, constraints=(NonNegative(), *block.constraints))


def guessed_signs(held: Subproblem, B: Array) -> Array:
    """Return the signs of B; an entry that is zero takes the one in which the loss falls."""
    return np.where(B != 0, np.sign(B), np.where(held.loss_gradient(B) > 0, -1.0, 1.0))


def signed_step(
    held: Subproblem,
    program: BlockProgram | UpperCutProgram,
    B: Array,
    loop: TangentLoop,
    linear: Array | None = None,
    way: Callable[[Step, Array, TangentLoop], Outcome] = tangent_step,
) -> Outcome:
    """Solve for the magnitudes with the signs of B, then for the signs of small entries.

    `program` is that of the block's `magnitudes`, `way` how planes are moved.
    """
    block = held.block
    signs = guessed_signs(held, B)
    turned_linear = None if linear is None else signs * linear
    step = program.at(held, turned_linear, signs)
    outcome = way(step, np.abs(B), loop)
    if outcome.B is None and block.capped:
        before = outcome.records
        outcome = way(step.uncapped(), np.abs(B), loop)  # the start lies above the cap
        outcome.records[:0] = before
    if outcome.B is None:
        return outcome
    outcome.B = signs * outcome.B
    turned = _turn_small_signs(held, outcome, linear)
    if turned is not None and block.violation(turned) <= block.violation(outcome.B) + 1e-9:
        outcome.B = turned
    return outcome


def _turn_small_signs(held: Subproblem, outcome: Outcome, linear: Array | None) -> Array | None:
    """Minimize over the small entries between their magnitudes and their negatives."""
    B = outcome.B
    assert B is not None
    size = np.abs(B)
    small = size <= SMALL * size.max(axis=1, keepdims=True)
    if not (small & (size > 0)).any():
        return None
    box = Box(np.where(small, -size, B), np.where(small, size, B))
    step = BlockProgram(replace(held.block, constraints=(box,))).at(held, linear)
    solution = step.solve()
    outcome.records += solution.records
    return solution.B
