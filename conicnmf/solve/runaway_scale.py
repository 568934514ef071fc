"""Statements without a minimum worth having: a penalty that melts away while the partner grows.

W H is the same for W/c and c H. Where a penalty on H falls with c and nothing holds W, the objective
falls for ever, ever more slowly: H goes to zero, W grows without end, and the penalty does nothing.
"""

from __future__ import annotations

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem

_LARGEST = 10**7
"""Entries up to which penalties are asked; larger blocks are taken to be as usual."""


def runaway_scales(problem: BaseProblem) -> list[str]:
    """Return a sentence for each factor that may grow without end, with the remedy.

    Examples
    --------
    >>> import conicnmf as cn
    >>> nonneg, V = cn.NonNegative(), np.ones((3, 4))
    >>> runaway_scales(cn.factorize(V, 1, H=[nonneg, cn.L1(0.1)]))[0][:50]
    'the scale of W is free, so L1(weight=0.1) on H goe'
    >>> runaway_scales(cn.factorize(V, 1, W=[nonneg, cn.UnitNorm()], H=[nonneg, cn.L1(0.1)]))
    []
    """
    if not isinstance(problem, Problem):
        return []
    found = []
    for block in problem.blocks:
        partner = problem.partner(block)
        if partner is None or not (_shrinks(block) and _may_grow(partner)):
            continue
        terms = " and ".join(map(str, block.penalties))
        found.append(
            f"the scale of {partner.name} is free, so {terms} on {block.name} goes to zero while "
            f"{partner.name} grows without bound; add UnitNorm() or NormBall(1) to "
            f"{partner.name}, or "
            "L2(weight)"
        )
    return found


def _shrinks(block: Block) -> bool:
    """Whether penalties fall with the scale of a factor, and no constraint holds it."""
    return all(c.scale_free for c in block.constraints) and _rise(block) > 0


def _may_grow(block: Block) -> bool:
    """Whether neither a constraint nor a penalty holds a factor from growing."""
    return all(c.scale_free for c in block.constraints) and _rise(block) <= 0


def _rise(block: Block) -> float:
    """Return by how much the penalties of a factor rise when it is doubled, at a random point."""
    if not block.penalties or np.prod(block.shape) > _LARGEST:
        return float(len(block.penalties))
    B = np.random.default_rng(0).random(block.shape)
    once, twice = block.penalty(B), block.penalty(2 * B)
    return twice - once if abs(twice - once) > 1e-9 * abs(once) else 0.0
