"""A convex block of squares as one program of the factor's size, for methods that never let it rise."""

from __future__ import annotations

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.tolerances import INSIDE
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.closing import Closing
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.types import Array


class WholeProgram:
    """The program of a block's squares and all its terms, compiled once."""

    def __init__(self, block: Block) -> None:
        self._program, self._closing = BlockProgram(block, squared=True), Closing(block)

    def minimize(self, held: Subproblem, B: Array) -> tuple[Array, float, list[InnerSolve]]:
        """Return the minimizer, or B where that is better, with its value and the backend calls."""
        step = self._program.at(held)
        solution = step.solve()
        before, records = step.value(B), list(solution.records)
        if solution.B is None:
            return B, before, records
        settled = self._closing.settle(solution.B, B)
        records += settled.records
        if settled.B is None:
            return B, before, records
        new = settled.B.astype(B.dtype, copy=False)
        value = step.value(new)
        if value <= before or held.block.violation(B) > INSIDE:
            return new, value, records
        return B, before, records
