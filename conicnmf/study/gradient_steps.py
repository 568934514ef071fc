"""Gradient steps within the set of a block: what they gain, a certificate reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conicnmf.model.blocks import Subproblem
from conicnmf.model.constraints.alternating import alternate, find_parts
from conicnmf.model.tolerances import FEASIBLE, INSIDE
from conicnmf.types import Array

_STEPS = 50


def by_projected_steps(held: Subproblem, B: Array) -> Array | None:
    """Take steps along the gradient, projected, each no longer than lowers the objective."""
    if held.block.projection is None:
        return None
    return _descent(held, B, held.block.projection)


def by_alternating_steps(held: Subproblem, B: Array) -> Array | None:
    """Do the same where only parts of the constraints have a projection each."""
    constraints = held.block.constraints
    parts = find_parts(constraints)
    if parts is None:
        return None
    return _descent(held, B, lambda X: alternate(parts, constraints, X, INSIDE))


def _descent(held: Subproblem, B: Array, project: Callable[[Array], Array]) -> Array | None:
    """Take steps along the slope of what is smooth, then proximal ones of each other penalty."""
    penalties = held.block.penalties
    kinks = [penalty for penalty in penalties if "gradient" not in penalty.abilities]
    if any("prox" not in penalty.abilities for penalty in kinks):
        return None
    block = held.block
    smooth = replace(block, penalties=tuple(p for p in penalties if p not in kinks))
    step, value = held.step_size, held.objective(B)
    allowed = max(FEASIBLE, block.violation(B))
    for _ in range(_STEPS):
        slope = _slope(held.on(smooth), B)
        if slope is None:
            return None
        new = B - step * slope
        for penalty in kinks:  # one after the other is near enough: what counts is what it leads to
            new = penalty.prox(new, step)
        new = project(new)
        lower = held.objective(new)
        inside = block.violation(new) <= allowed and not block.collapsed(new)
        if lower < value and inside:
            B, value, step = new, lower, 2 * step
        else:
            step /= 4
    return B


def _slope(held: Subproblem, B: Array) -> Array | None:
    """Return the gradient; where the loss has none, that of a majorizer, which touches it at B."""
    for seen in (held.block, *held.block.majorized):
        if "gradient" in seen.abilities:
            smooth = held if seen is held.block else held.majorized(B, seen)
            return smooth.gradient(B)
    return None
