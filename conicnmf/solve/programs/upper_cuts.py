"""Upper bounds on sparseness by cutting planes, so that a block stays a quadratic program.

The bound ‖x‖ ≤ eᵀx/c is convex. A component that breaks it is cut off by the tangent plane of the
gauge at that point, ⟨x/‖x‖ − e/c, y⟩ ≤ 0, which every vector in the cone satisfies; planes are
added until the bound holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.program import BlockProgram, ConicStep, Solution
from conicnmf.types import Array

_ROUNDS = 25


class UpperCutProgram:
    """A block's program with planes in place of the cones of its upper bounds."""

    def __init__(self, block: Block, backend: str | None = None) -> None:
        self.block = block
        self.bounds = [c for c in block.constraints if "cut_off" in c.abilities]
        relaxed = tuple(
            c.without_convex_part() if c in self.bounds else c for c in block.constraints
        )
        self.slots = tuple(c.each for c in self.bounds for _ in range(_ROUNDS))
        self.planar = BlockProgram(replace(block, constraints=relaxed), backend, self.slots)
        self.conic = BlockProgram(block, backend)

    def at(
        self, held: Subproblem, linear: Array | None = None, signs: Array | None = None
    ) -> UpperCutStep:
        """Return the program of a held block."""
        return UpperCutStep(self, held, linear, signs)


@dataclass(eq=False)
class UpperCutStep:
    """A block with the other factor fixed; planes found for one set of cuts serve the next."""

    program: UpperCutProgram
    held: Subproblem
    linear: Array | None
    signs: Array | None
    planes: list[Cut] = field(default_factory=list)

    leaves_dust: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._planar = self.program.planar.at(self.held, self.linear, self.signs)
        shape = self.block.shape
        self.planes = [Cut.none(shape, each) for each in self.program.slots]
        self._used = 0

    @property
    def block(self) -> Block:
        """The block that is solved."""
        return self.program.block

    def solve(self, cuts: Sequence[Cut] | None = None) -> Solution:
        """Minimize over B, adding planes until the upper bounds hold."""
        held = list(cuts) if cuts is not None else self._planar.no_cuts()
        records: list[InnerSolve] = []
        while True:
            solution = self._planar.solve([*held, *self.planes])
            records += solution.records
            if solution.B is None or not self._cut_off(solution.B):
                return Solution(solution.B, records)
            if self._used == _ROUNDS:
                # No room for more planes: the cones themselves finish the step.
                last = self.program.conic.at(self.held, self.linear, self.signs)
                solution = last.solve(cuts)
                return Solution(solution.B, records + solution.records)

    def _cut_off(self, B: Array) -> bool:
        """Add a plane for each component that breaks its upper bound; say whether any did."""
        found = False
        for number, bound in enumerate(self.program.bounds):
            planes, broken = bound.cut_off(B)
            if broken.any() and self._used < _ROUNDS:
                self.planes[number * _ROUNDS + self._used] = Cut(planes, broken)
            found = found or bool(broken.any())
        self._used += found and self._used < _ROUNDS
        return found

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self._planar.value(B)

    def uncapped(self) -> ConicStep:
        """Return the step for what is capped alone, without its caps and without penalties."""
        return self.program.conic.at(self.held, self.linear, self.signs).uncapped()
