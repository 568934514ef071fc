"""Leave the signs of a factor by projected steps, where a method that keeps them has settled."""

from __future__ import annotations

import numpy as np

from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import feasible_within
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.projected_gradient import ProjectedGradient
from conicnmf.solve.needs import signed
from conicnmf.types import Array, Factors

_STEPS = ProjectedGradient()
_ROUNDS = 20
_WORTH, _EXACT = 1e-3, 1e-6
"""Other signs must lower the objective by a part of it, and not one that is as good as zero."""


def with_other_signs(problem: Problem, factors: Factors) -> Factors | None:
    """Return a better point whose signs differ, nothing where projected steps find none."""
    found, value = factors, problem.objective(factors)
    enough = value - _WORTH * max(abs(value), _EXACT * problem.unit)
    for block in problem.blocks:
        if not signed(block) or _STEPS.unmet(block):
            continue
        B = _descended(block, found)
        if np.array_equal(np.sign(B), np.sign(block.rows(found))):
            continue  # a polish, which what keeps the signs can do as well
        moved = block.put(found, B)
        told = problem.objective(moved)
        if told < value and problem.violation(moved) <= feasible_within(moved):
            found, value = moved, told
    return found if value < enough else None


def _descended(block: Block, factors: Factors) -> Array:
    """Return the block after some projected steps."""
    held, B, step = block.given(factors), block.rows(factors), 0.0
    for _ in range(_ROUNDS):
        made = _STEPS.update(held, B, step)
        B, step = made.B, made.memo or 0.0
        if is_late():
            break
    return B
