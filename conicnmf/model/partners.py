"""What stands around a variable: its partner in an isolated product of two, and signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block, constraints_of
from conicnmf.model.constraints.joint import merged_bounds
from conicnmf.model.variables import Variable


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


def nonneg_around(name: str, fits: Sequence[Fit], variables: Mapping[str, Variable]) -> bool:
    """Whether whatever a variable is multiplied by, or added to, is non-negative.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> problem = cn.factorize(np.ones((2, 3)), 1, W=[])
    >>> [nonneg_around(name, problem.fits, problem.variables) for name in "WH"]
    [True, False]
    """
    own = [fit for fit in fits if name in fit.variables]
    others = {other for fit in own for other in fit.variables} - {name}
    lower = [merged_bounds(constraints_of(variables[other].terms))[0] for other in others]
    return all(fit.nonneg_constants for fit in own) and all((b >= 0).all() for b in lower)
