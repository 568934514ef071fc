"""Upper bounds on sparseness by cutting planes, so that a block stays a quadratic program.

The bound ‖x‖ ≤ eᵀx/c is convex. A component that breaks it is cut off by the tangent plane of the
gauge at that point, ⟨x/‖x‖ − e/c, y⟩ ≤ 0, which every vector in the cone satisfies; planes are
added until the bound holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.conic.backends import InnerSolve
from conicnmf.conic.cones import tangent_normals
from conicnmf.conic.cuts import Cut
from conicnmf.conic.program import BlockProgram, ConicStep, Solution
from conicnmf.constraints import Sparseness
from conicnmf.terms import Halfspaces, pieces

_ROUNDS = 25
_TOLERANCE = 1e-7


class UpperCutProgram:
    """A block's program with planes in place of the cones of its upper bounds."""

    def __init__(self, block: Block, backend: str | None = None) -> None:
        self.block = block
        self.bounds = [c for c in block.constraints if isinstance(c, Sparseness) and c.max < 1]
        relaxed = tuple(
            replace(c, max=1.0) if isinstance(c, Sparseness) else c for c in block.constraints
        )
        self.slots = tuple(c.each for c in self.bounds for _ in range(_ROUNDS))
        self.planar = BlockProgram(replace(block, constraints=relaxed), backend, self.slots)
        self.conic = BlockProgram(block, backend)

    def at(self, A: Array, linear: Array | None = None, signs: Array | None = None) -> UpperCutStep:
        """Return the program for this A."""
        return UpperCutStep(self, A, linear, signs)


@dataclass(eq=False)
class UpperCutStep:
    """A block with the other factor fixed; planes found for one set of cuts serve the next."""

    program: UpperCutProgram
    A: Array
    linear: Array | None
    signs: Array | None
    planes: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._planar = self.program.planar.at(self.A, self.linear, self.signs)
        shape = self.block.shape
        self.planes = [Cut.none(shape, each) for each in self.program.slots]
        self._used = 0

    @property
    def block(self) -> Block:
        """The block that is solved."""
        return self.program.block

    def solve(self, cuts: Sequence[Cut] | None = None, deadline: float = np.inf) -> Solution:
        """Minimize over B, adding planes until the upper bounds hold."""
        held = list(cuts) if cuts is not None else self._planar.no_cuts()
        records: list[InnerSolve] = []
        while True:
            solution = self._planar.solve([*held, *self.planes], deadline)
            records += solution.records
            if solution.B is None or not self._cut_off(solution.B):
                return Solution(solution.B, records)
            if self._used == _ROUNDS:
                # No room for more planes: the cones themselves finish the step.
                last = self.program.conic.at(self.A, self.linear, self.signs)
                solution = last.solve(cuts, deadline)
                return Solution(solution.B, records + solution.records)

    def _cut_off(self, B: Array) -> bool:
        """Add a plane for each component that breaks its upper bound; say whether any did."""
        found = False
        for number, bound in enumerate(self.program.bounds):
            broken = replace(bound, min=0.0).violation(B) > _TOLERANCE
            if broken.any() and self._used < _ROUNDS:
                rows = tangent_normals(pieces(B, bound.each), bound.max)
                plane = Cut(Halfspaces(pieces(-rows, bound.each), bound.each), broken)
                self.planes[number * _ROUNDS + self._used] = plane
            found = found or bool(broken.any())
        self._used += found and self._used < _ROUNDS
        return found

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self._planar.value(B)

    def uncapped(self) -> ConicStep:
        """Return the step for the loss alone, without its cap and without penalties."""
        return self.program.conic.at(self.A, self.linear, self.signs).uncapped()
