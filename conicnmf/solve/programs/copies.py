"""A block's terms divided into groups with a proximal step each, one for each copy of the factor.

A term with a closed form is taken together with the bounds where the pair has one, else alone. What
has none goes into one small cone program: such penalties, and the constraints all together, so that
its points satisfy them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conicnmf.model.blocks import Block
from conicnmf.model.constraints.alternating import alternate, find_parts
from conicnmf.model.constraints.joint import JointProjection
from conicnmf.model.proximal import JointProx, find_prox
from conicnmf.model.terms import Penalty
from conicnmf.model.tolerances import INSIDE
from conicnmf.results import InnerSolve
from conicnmf.solve.needs import cones_on_orthant, conic_constraints
from conicnmf.solve.programs.prox_program import ProxProgram
from conicnmf.types import Array

_SMALL = 5000
"""Entries of a factor up to which a program may hold those that no term without closed form touches."""


@dataclass(frozen=True, eq=False)
class Copies:
    """The proximal step of each copy, and the way from the first of them into the constraints."""

    block: Block
    steps: tuple[JointProx | ProxProgram, ...]
    parts: Sequence[JointProjection] | None

    @property
    def by_program(self) -> bool:
        """Whether a copy needs a cone program in each step."""
        return any(isinstance(step, ProxProgram) for step in self.steps)

    @property
    def closed(self) -> bool:
        """Whether every constraint and every penalty with a shape of its own has a closed form."""
        return self.parts is not None and not _without_prox(self.block)

    @property
    def convex(self) -> bool:
        """Whether all constraints are convex, and no penalty jumps."""
        jumps = any("constant_on" in penalty.abilities for penalty in self.block.penalties)
        return not jumps and not self.block.reverse_convex

    def step(self, B: Array, step: float) -> Array:
        """Return a feasible point next to B after the proximal steps of all terms with closed forms."""
        if self.block.prox is not None:
            return self.feasible(self.block.prox(B, step))
        for penalty in self.block.shaped:
            B = penalty.prox(B, step)
        return self.feasible(B)

    def apply(self, place: int, B: Array, step: float, log: list[InnerSolve]) -> Array | None:
        """Return the proximal step of a copy, nothing where a program failed."""
        own = self.steps[place]
        if isinstance(own, JointProx):
            return own(B, step)
        X, records = own.solve(B, step)
        log += records
        return X

    def feasible(self, first: Array) -> Array:
        """Return a feasible point at or next to the first copy."""
        if self.parts is None:
            return first  # the cone program holds every constraint
        if len(self.parts) == 1:
            return self.parts[0](first)
        return alternate(self.parts, self.block.constraints, first, INSIDE)


def unsplit(block: Block) -> Iterator[str]:
    """Yield the terms that have neither a closed form nor a convex one for a cone program."""
    if find_parts(block.constraints) is None:
        for constraint in block.constraints:
            if "cone" not in constraint.abilities or not constraint.convex:
                yield (
                    f"{constraint} on {block.name} is not a convex cone, and has no projection "
                    "together with the other constraints"
                )
    for penalty in _without_prox(block):
        if "expression" not in penalty.abilities:
            yield f"{penalty} on {block.name} has neither a prox form nor an expression"


def needs_program(block: Block) -> bool:
    """Whether a term has no closed form, so that its copy takes a cone program in each round."""
    return find_parts(block.constraints) is None or bool(_without_prox(block))


def fits_whole(block: Block) -> bool:
    """Whether one small program of squares and all terms serves a block better than copies do."""
    stated = all("expression" in penalty.abilities for penalty in block.penalties)
    squares = block.kind is None and "reduced" in block.abilities
    apart = block.reverse_convex or block.capped or [*conic_constraints(block)]
    convex = not apart and not [*cones_on_orthant(block)]
    small = block.shape[0] * block.shape[1] <= _SMALL
    return squares and convex and stated and small and needs_program(block)


def find_copies(block: Block) -> Copies:
    """Divide the terms of a block; `unsplit` says where that cannot be done.

    Examples
    --------
    >>> import conicnmf as cn
    >>> problem = cn.factorize([[1.0, 2.0]], 1, H=["nonnegative", cn.Smooth(1.0), cn.Nuclear(1.0)])
    >>> len(find_copies(problem.blocks[1]).steps)
    2
    """
    parts = find_parts(block.constraints)
    if block.prox is not None:
        return Copies(block, (block.prox,), parts)
    boxes = [c for c in block.constraints if "bounds" in c.abilities]
    lacking = _without_prox(block)
    steps: list[JointProx | ProxProgram] = []
    if lacking or parts is None:
        held = block.constraints if parts is None else ()
        steps.append(ProxProgram(block.shape, held, lacking))
    boxed = parts is None
    for penalty in block.shaped:
        if penalty not in lacking:
            both = None if boxed else find_prox(boxes, [penalty])
            steps.append(both or _alone(penalty))
            boxed = boxed or both is not None
    shaped = len(boxes) < len(block.constraints)
    if parts is not None and block.constraints and (shaped or not boxed):
        steps = [*(JointProx.onto(part) for part in parts), *steps]
    return Copies(block, tuple(steps), parts)


def _alone(penalty: Penalty) -> JointProx:
    found = find_prox((), [penalty])
    assert found is not None
    return found


def _without_prox(block: Block) -> tuple[Penalty, ...]:
    return tuple(p for p in block.shaped if "prox" not in p.abilities)
