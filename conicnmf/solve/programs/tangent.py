"""Tangent-plane steps: a reverse-convex block as a short sequence of convex programs.

A component that is not sparse enough is held in a half-space that lies inside the reverse-convex
set. The plane is anchored at the nearest point of the band, non-negative and on its boundary, so
the anchor itself stays feasible and the next program is never empty. Sets without a projection give
half-spaces near the point itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from conicnmf.model.blocks import Block
from conicnmf.model.terms import Constraint, Halfspaces, Penalty, pieces
from conicnmf.model.tolerances import INSIDE
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.program import ConicStep, Step
from conicnmf.types import Array, Mask

_DEAD = 1e-7
_FIRST_PRICE, _PRICES = 0.0005, 30


@dataclass(frozen=True)
class TangentLoop:
    """How often planes are moved within one block: while f falls by `rtol`, at most `rounds`."""

    rounds: int = 2
    rtol: float = 1e-3


@dataclass(eq=False)
class Outcome:
    """The point a block ended at, whether every component is feasible, and the backend calls."""

    B: Array | None = None
    infeasible: bool = False
    records: list[InnerSolve] = field(default_factory=list)


def with_interior(block: Block) -> Block:
    """Return the block with constraints that leave cone programs an interior."""
    return replace(block, constraints=tuple(c.with_interior() for c in block.constraints))


def convex_part(block: Block) -> tuple[Block, tuple[Penalty, ...]]:
    """Return the block without the penalties that are linearized, and these."""
    rewards = tuple(p for p in block.penalties if "expression" not in p.abilities)
    kept = tuple(p for p in block.penalties if p not in rewards)
    return with_interior(replace(block, penalties=kept)), rewards


def tangent_step(step: Step, previous: Array, loop: TangentLoop) -> Outcome:
    """Solve a block; `previous` supplies directions for components that a step drives to zero."""
    outcome = Outcome()
    first = step.solve()
    outcome.records += first.records
    outcome.B = None if first.B is None else _without_dust(step, first.B)
    outcome.infeasible = first.infeasible
    reverse = step.block.reverse_convex
    if outcome.B is None or not reverse:
        return outcome
    active = [_violators(c, outcome.B) for c in reverse]
    if not any(held.any() for held in active):
        return outcome
    value = np.inf
    for _ in range(loop.rounds):
        B = _hold(step, outcome, active, previous)
        if B is None:
            break
        before, value = value, step.value(B)
        if value > before:
            break
        outcome.B = B
        if before - value <= loop.rtol * abs(value) or is_late():
            break
    if any((_violators(c, outcome.B) & _alive(c, outcome.B)).any() for c in reverse):
        outcome.B = None
    return outcome


def planes_at(block: Block, B: Array) -> list[Cut]:
    """Return half-spaces inside the reverse-convex constraints that hold every piece of B."""
    cuts = []
    for c in block.reverse_convex:
        planes = c.tangent(c.project(B) if "project" in c.abilities else B)
        cuts.append(Cut(planes, np.ones(planes.count, dtype=bool)))
    return cuts


def held_step(step: Step, B: Array, loop: TangentLoop) -> Outcome:
    """Solve a block with all planes at the feasible B, and at what that leads to.

    The answer is no worse than B.
    """
    outcome = Outcome()
    value = np.inf
    for _ in range(loop.rounds):
        solution = step.solve(planes_at(step.block, B))
        outcome.records += solution.records
        if solution.B is None:
            outcome.infeasible = outcome.B is None and solution.infeasible
            break
        B = solution.B
        before, value = value, step.value(B)
        outcome.B = B if value <= before else outcome.B
        if before - value <= loop.rtol * abs(value) or is_late():
            break
    return outcome


def priced_step(step: ConicStep, B: Array, loop: TangentLoop) -> Outcome:
    """Solve a block with planes that may be missed at a rising price, then with planes that hold.

    The way from B may lead outside of the set, so it is not bound to the basin of B.
    """
    records: list[InnerSolve] = []
    price = _FIRST_PRICE * abs(step.value(B)) / (float(np.abs(B).max(initial=0.0)) or 1.0) or 1.0
    for _ in range(_PRICES):
        solution = step.priced(planes_at(step.block, B), price)
        records += solution.records
        if solution.B is None or is_late():
            return Outcome(records=records)
        B, price = solution.B, 2 * price
        if step.block.violation(B) <= INSIDE:
            break
    else:
        return Outcome(records=records)
    outcome = held_step(step, B, loop)
    outcome.records[:0] = records
    return outcome


def _hold(step: Step, outcome: Outcome, active: list[Mask], previous: Array) -> Array | None:
    """Re-solve with a plane for each active component, until no other component violates."""
    reverse = step.block.reverse_convex
    assert outcome.B is not None
    B = outcome.B
    while True:
        cuts = [Cut(_planes(c, B, previous), held) for c, held in zip(reverse, active, strict=True)]
        solution = step.solve(cuts)
        outcome.records += solution.records
        if solution.B is None:
            return None
        B = _without_dust(step, solution.B)
        grown = False
        for c, held in zip(reverse, active, strict=True):
            fresh = _violators(c, B) & ~held
            held |= fresh
            grown = grown or bool(fresh.any())
        if not grown:
            return B


def _without_dust(step: Step, B: Array) -> Array:
    """Return B with zero in place of components that are only an interior point's leftovers."""
    if not step.leaves_dust:
        return B
    if step.block.zero_in_convex_part:
        nothing = np.zeros_like(B)
        empty = step.value(nothing)
        if np.isfinite(empty) and empty <= step.value(B):
            return nothing  # what is left of B has no scale of its own to be compared with
    sizes = np.linalg.norm(B, axis=1, keepdims=True)
    return np.where(sizes > _DEAD * sizes.max(initial=0.0), B, 0.0)


def _violators(constraint: Constraint, B: Array) -> Mask:
    return constraint.violation(B) > max(INSIDE, 20 * float(np.finfo(B.dtype).eps))


def _alive(constraint: Constraint, B: Array) -> Mask:
    """Return which pieces are not zero; zero ones are left to the caller."""
    if constraint.each == "factor":
        return np.array([True])
    return np.asarray(pieces(B, constraint.each).any(axis=1))


def _planes(constraint: Constraint, B: Array, previous: Array) -> Halfspaces:
    """Return half-spaces near B; where B has no direction, those near the last point."""
    if "project" in constraint.abilities:
        return constraint.tangent(_anchor(constraint, B, previous))
    planes = constraint.tangent(B)
    return planes.where(~planes.flat, constraint.tangent(previous)) if planes.flat.any() else planes


def _anchor(constraint: Constraint, B: Array, previous: Array) -> Array:
    """Return a feasible point near B, with the last direction of components that are zero."""
    rows, last = pieces(B, constraint.each), pieces(previous, constraint.each)
    sizes = np.linalg.norm(rows, axis=1)
    dead = sizes <= _DEAD * sizes.max(initial=0.0)
    alive = np.where(dead[:, None], last, rows)
    return constraint.project(pieces(alive, constraint.each))
