"""What the checks of a certificate prove together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.results import Result
from conicnmf.study.check import Check
from conicnmf.study.other_minima import EVERYWHERE, IN_BLOCK

Proof: TypeAlias = Literal[
    "global", "global in each block", "stationary", "feasible", "unbounded", "nothing"
]
_LENGTHS = (1e2, 1e4, 1e6)


def proved(problem: BaseProblem, checks: Sequence[Check]) -> Proof:
    """Return the strongest statement that follows when every check passed."""
    if not all(check.ok for check in checks):
        return "nothing"
    judged = [check for check in checks if check.name.startswith("stationary")]
    if not judged or not all(np.isfinite(check.tolerance) for check in judged):
        return "feasible"
    bounded = {check.name for check in checks if np.isfinite(check.tolerance)}
    each = [_is_convex(block) or IN_BLOCK + block.name in bounded for block in problem.blocks]
    if EVERYWHERE in bounded or (each == [True] and problem.fits):
        return "global"
    # What a convex block cannot lower near a point it cannot lower anywhere.
    searched = any(name.startswith(IN_BLOCK) for name in bounded)
    return "global in each block" if searched and all(each) else "stationary"


def _is_convex(block: Block) -> bool:
    """Whether all parts of a block are convex: what no step can lower is a minimum."""
    convex = all(c.convex and (block.nonneg or not c.orthant_only) for c in block.constraints)
    stated = all("expression" in penalty.abilities for penalty in block.penalties)
    return convex and stated and "expression" in block.abilities


def endless_fall(problem: BaseProblem, result: Result, feasibility: float) -> Check:
    """Follow the direction of a result that is called unbounded; the objective must go on falling."""
    name, direction = "falls without bound along the direction", result.direction
    if direction is None:
        return Check(name, np.inf, 0.0, "the result has no direction")
    start = {own: np.asarray(X, dtype=float) for own, X in result.factors.items()}
    size = max(float(np.abs(X).max(initial=0.0)) for X in start.values()) or 1.0
    last, failures = problem.objective(start), 0
    for length in _LENGTHS:
        there = {own: X + length * size * direction.get(own, 0.0) for own, X in start.items()}
        value = problem.objective(there)
        fell = value < last - abs(last)
        # What stays equal in exact numbers is rounded in units of the length.
        kept = problem.violation(there) <= max(feasibility, 1e-12 * length**2)
        failures += not (fell and kept)
        last = value
    return Check(name, float(failures), 0.0, f"of {len(_LENGTHS)} points on the way")
