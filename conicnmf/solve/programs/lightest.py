"""The lightest program of a block: native where there is one, of the loss or of a majorizer of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conicnmf.model.blocks import Block
from conicnmf.solve.programs.native import NativeProgram, native_reasons
from conicnmf.solve.programs.separable import SeparableProgram, separable_reasons

if TYPE_CHECKING:
    from conicnmf.solve.methods.base import AnySolver


def has_native_program(block: Block) -> bool:
    """Whether a block is solved without a cone solver."""
    return not any(native_reasons(block)) or not any(separable_reasons(block))


def native_program(block: Block, accuracy: float) -> NativeProgram | SeparableProgram:
    """Return the program of a block that has a native one."""
    if any(native_reasons(block)):
        return SeparableProgram(block)
    return NativeProgram(block, accuracy)


def lightest(solver: AnySolver, block: Block, is_native: Callable[[Block], bool]) -> Block:
    """Return the form to work on, among those the solver fits: the block itself where none is lighter.

    No program at all is lightest, first by squares, whose steps are longest. Squares of the loss itself
    come before sums over entries, majorizers by cone programs after both: they have the size of the
    factor. A loss that is kept as it is written comes last: its program has the size of the data.
    """

    def weight(seen: Block) -> int:
        if is_native(seen):
            return 3 if seen.kind == "separable" else 0
        squares = "reduced" in seen.abilities
        if seen.kind is None:
            return 2 if squares else 6
        return 4 if squares else 5

    if not solver.unmet(block) and not weight(block):
        return block  # nothing is lighter, and small problems are over before the others are made
    fitting = [seen for seen in (block, *block.majorized) if not solver.unmet(seen)]
    return min(fitting, key=weight, default=block)
