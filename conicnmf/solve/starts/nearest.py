"""A point of all constraints of a block near another: one way after the other, until one leads there.

Where a projection is known it is the nearest point. Else projections on parts of the constraints
alternate, tangent planes are moved, with slack at a rising price where they leave no room, and from
there copies are reflected at one part after the other, which finds common points of sets that are not
convex where alternating stands still. That nothing was found proves nothing: only a contradiction in
the convex part of the constraints is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cvxpy as cp
import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.constraints import Box, NonNegative
from conicnmf.model.constraints.alternating import alternate, find_parts, reflect
from conicnmf.model.losses import Frobenius
from conicnmf.model.terms import Constraint
from conicnmf.model.tolerances import INSIDE
from conicnmf.model.units import named_size
from conicnmf.solve.deadline import is_late
from conicnmf.solve.needs import cones_on_orthant, conic_constraints, signed
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.closing import Closing
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, planes_at, tangent_step
from conicnmf.types import Array

_DRAWS = 3
_PRICES = 15


def nearest(block: Block, B: Array) -> Array:
    """Return a near point in all constraints of a block, the nearest where a projection is known.

    Where none is found it is the least violated of all that were tried.
    """
    if block.projection is not None:
        return block.projection(B)
    if block.violation(B) <= INSIDE:
        return B
    block = block.any_sign
    approached = [c for c in block.constraints if "approach" in c.abilities]
    if approached:
        others = tuple(c for c in block.constraints if c not in approached)
        B = nearest(replace(block, constraints=others), B)
        for constraint in approached:
            B = constraint.approach(B)
        return B
    best, least = B, np.inf
    for found in _found(block, B):
        violation = block.violation(found)
        if violation < least:
            best, least = found, violation
        if least <= INSIDE or is_late():
            break
    return best.astype(B.dtype)


def _found(block: Block, B: Array) -> Iterator[Array]:
    """Yield points that are meant to satisfy every constraint."""
    yield from _by_magnitudes(block, B)
    parts = find_parts(block.constraints)
    if parts is not None:
        yield alternate(parts, block.constraints, B, INSIDE)
    yield from _by_planes(block, B)
    yield from _by_slack(block, B)
    if parts is None:
        return
    yield reflect(parts, block.constraints, B, INSIDE)
    size = float(np.abs(B).max(initial=0.0)) or 1.0
    rng = np.random.default_rng(0)  # the same draws in every solve
    for _ in range(_DRAWS):
        drawn = np.copysign(size * rng.random(B.shape), B).astype(B.dtype)
        yield reflect(parts, block.constraints, drawn, INSIDE)


def _by_magnitudes(block: Block, B: Array) -> Iterator[Array]:
    """Yield the nearest magnitudes with signs that the bounds allow, where nothing else sees signs."""
    boxes = [c for c in block.constraints if "bounds" in c.abilities]
    others = [c for c in block.constraints if c not in boxes]
    if not signed(block) or not all(c.sign_free for c in others):
        return
    lower, upper = (np.broadcast_to(bound, block.shape) for bound in block.bounds)
    signs = np.where(lower >= 0, 1.0, np.where(upper <= 0, -1.0, np.copysign(1.0, B)))
    low, high = np.where(signs > 0, lower, -upper), np.where(signs > 0, upper, -lower)
    orthant = Box(np.maximum(low, 0.0), high) if boxes else NonNegative()
    sizes = replace(block, constraints=(orthant, *others))
    try:
        yield signs * nearest(sizes, np.abs(B))
    except InfeasibleError:
        if all(c.sign_free for c in boxes):
            raise  # it does not depend on the signs


def _by_planes(block: Block, B: Array) -> Iterator[Array]:
    """Yield where tangent planes lead; raise where the convex part of the constraints is empty."""
    if [*conic_constraints(block), *cones_on_orthant(block)]:
        return
    eye = np.eye(block.shape[0])
    size, own = _near_one(block, B)
    near, held = fitted_block(block.name, B / size, eye, Frobenius(), own)
    outcome = tangent_step(BlockProgram(near).at(held), B / size, TangentLoop(rounds=1))
    if outcome.infeasible:
        listed = ", ".join(map(str, block.constraints))
        raise InfeasibleError(
            f"the constraints on {block.name} contradict each other: {listed}; relax or drop one of "
            "them"
        )
    reached = B if outcome.B is None else size * outcome.B
    settled = Closing(block).settle(reached, B).B
    yield reached if settled is None else settled


def _by_slack(block: Block, B: Array) -> Iterator[Array]:
    """Yield where the least slack in tangent planes leads, at a price that rises with every step.

    The planes move with the point, so what is left of the slack falls where a common point is near.
    """
    if [*conic_constraints(block), *cones_on_orthant(block)] or not block.reverse_convex:
        return
    size, own = _near_one(block, B)
    near, _ = fitted_block(block.name, B / size, np.eye(len(B)), Frobenius(), own)
    program, P, price = PlainProgram(near), B / size, 1.0
    X, slack = program.variable, cp.Variable(nonneg=True)
    for _ in range(_PRICES):
        held = [part for cut in planes_at(near, P) for part in cut.constraints(X, slack)]
        target = cp.Minimize(cp.sum_squares(X - P) + price * slack)
        nearer = cp.Problem(target, [*program.constraints, *held])
        found, _ = solve_along(nearer, X, chain(None))
        if found is None or is_late():
            break
        P, price = np.clip(found, *near.bounds), 3 * price
        if near.violation(P) <= INSIDE:
            break
    settled = Closing(block).settle(size * P, B).B
    yield size * P if settled is None else settled


def _near_one(block: Block, B: Array) -> tuple[float, list[Constraint]]:
    """Return a power of two, and the constraints with an interior on B divided by it.

    It is at or below the largest number of B and of the bounds: a proof that nothing meets all
    constraints is worth something in numbers near one alone. It is one for zero, and where a
    constraint does not say what it asks of multiples.
    """
    wide = [constraint.with_interior() for constraint in block.constraints]
    largest = max(float(np.abs(B).max(initial=0.0)), named_size(block.constraints, block.shape))
    if not largest or not all("scaled" in constraint.abilities for constraint in wide):
        return 1.0, wide
    size = float(np.ldexp(1.0, np.frexp(largest)[1] - 1))
    return size, [constraint.scaled(1 / size) for constraint in wide]
