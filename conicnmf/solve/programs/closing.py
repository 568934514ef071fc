"""From the answer of a cone program to a point of the block's own constraints.

Cone programs want an interior, so prescribed sparseness is opened to a narrow band while they run.
Where no projection is known, the band is closed again by Newton steps: the gauge ‖b‖ − eᵀb/c is zero
exactly at the prescribed sparseness, and the nearest point with its linearization held at zero is a
convex program, which meets the gauge up to the square of the step. What cannot be held at once has a
slack, whose price is too high to be paid for longer than it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.losses import Frobenius
from conicnmf.model.tolerances import FEASIBLE, INSIDE
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.needs import signed
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.signed import magnitudes
from conicnmf.solve.programs.tangent import planes_at
from conicnmf.types import Array

_ROUNDS = 20
_PRICE = 1e3


@dataclass(frozen=True, eq=False)
class Settled:
    """A point of the constraints, or nothing when none was found, and the backend calls."""

    B: Array | None
    records: Sequence[InnerSolve] = ()


def settle(block: Block, B: Array) -> Settled:
    """Return the point of the block's constraints near B: its projection, or one found by steps."""
    # A projection sets small entries to zero, which a divergence may not allow: only where it must.
    exact = block.projection is not None and block.kind != "separable"
    if not exact and block.violation(B) <= INSIDE:
        return Settled(B)
    if block.projection is not None:
        return Settled(block.projection(B))
    if signed(block):
        sizes = settle(magnitudes(block), np.abs(B))
        return Settled(None if sizes.B is None else np.copysign(sizes.B, B), sizes.records)
    return _close(block, B)


def _close(block: Block, B: Array) -> Settled:
    opened = tuple(c for c in block.constraints if c.with_interior() is not c)
    others = tuple(c for c in block.constraints if c not in opened)
    near, _ = fitted_block(block.name, B, np.eye(len(B)), Frobenius(), others)
    program = PlainProgram(near)
    active = [c.violation(B) > INSIDE for c in opened]
    records: list[InnerSolve] = []
    P = B
    for _ in range(_ROUNDS):
        if is_late():
            break
        holds = [Cut(c.tangent(P), where) for c, where in zip(opened, active, strict=True)]
        nearest = _nearest(program, B, holds, planes_at(near, P))
        found, tried = solve_along(nearest, program.variable, chain(None))
        records += tried
        if found is None:
            break
        P = np.clip(found, *block.bounds)
        if block.violation(P) <= INSIDE:
            return Settled(P, records)
        active = [was | (c.violation(P) > INSIDE) for c, was in zip(opened, active, strict=True)]
    # The last digits are the backend's; what is feasible all the same is kept.
    return Settled(P if block.violation(P) <= FEASIBLE else None, records)


def _nearest(
    program: PlainProgram, B: Array, holds: Sequence[Cut], cuts: Sequence[Cut]
) -> cp.Problem:
    """Return the program of the point nearest to B, on the planes of `holds` and beyond `cuts`."""
    unit = float(np.abs(B).max(initial=0.0)) or 1.0
    X, slack = program.variable, cp.Variable(nonneg=True)
    planes = (*cuts, *holds, *(cut.opposite() for cut in holds))
    limits = [part for cut in planes for part in cut.constraints(X, slack)]
    distance = cp.sum_squares((X - B) / unit) + _PRICE / unit * slack
    return cp.Problem(cp.Minimize(distance), program.constraints + limits)
