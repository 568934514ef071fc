"""Which blocks are the two factors of a product that nothing else of the objective touches."""

from __future__ import annotations

from collections.abc import Sequence

from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block


def partners_of(blocks: Sequence[Block]) -> dict[str, Block | None]:
    """Return the other block of an isolated product of two for each that is in one, by name."""
    return {block.name: _partner(block, blocks) for block in blocks}


def _partner(block: Block, blocks: Sequence[Block]) -> Block | None:
    (addend,) = block.addends if len(block.addends) == 1 else (None,)
    if not isinstance(addend, Fit) or len(addend.chains) != 1:
        return None
    chain = addend.chains[0]
    if len(chain.names) != 2 or len(chain.factors) != 2:
        return None
    other = next(b for b in blocks if b.name in chain.names and b is not block)
    return other if other.addends == block.addends else None


def scale_free_pairs(
    blocks: Sequence[Block], partners: dict[str, Block | None]
) -> list[tuple[Block, Block]]:
    """Return the isolated products of two of which only the product counts, the earlier block first."""
    order = {block.name: place for place, block in enumerate(blocks)}
    return [
        (block, other)
        for block in blocks
        if (other := partners[block.name]) is not None
        and order[block.name] < order[other.name]
        and block.scale_free
        and other.scale_free
    ]
