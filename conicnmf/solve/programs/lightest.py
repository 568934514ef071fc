"""Which form of a block gives the lightest program: its loss, or a majorizer of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conicnmf.model.blocks import Block

if TYPE_CHECKING:
    from conicnmf.solve.methods.base import AnySolver


def lightest(solver: AnySolver, block: Block, is_native: Callable[[Block], bool]) -> Block:
    """Return the form to work on, among those the solver fits: the block itself where none is lighter.

    No program at all is the lightest, then least squares of the size of the factor, then any
    majorizer, which has that size too. A loss that is kept as it is written comes last: its program
    has the size of the data.
    """

    def weight(seen: Block) -> int:
        if is_native(seen):
            return 0
        if "reduced" in seen.abilities:
            return 1
        return 3 if seen.kind is None else 2

    fitting = [seen for seen in (block, *block.majorized) if not solver.unmet(seen)]
    return min(fitting, key=weight, default=block)
