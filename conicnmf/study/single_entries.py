"""Entries that come or go one at a time: what steps that keep the zeros of a factor cannot see."""

from __future__ import annotations

import numpy as np

from conicnmf.model.blocks import Subproblem
from conicnmf.types import Array


def by_single_rows(held: Subproblem, B: Array) -> Array | None:
    """Return B with its best row: every entry of it is at its best, with all other rows held.

    Columns do not see each other in a quadratic, nor do entries in these penalties, so that is the
    best single entry of each column, where it is in this row.
    """
    block = held.block
    parts = [*(c.each for c in block.constraints), *(p.each for p in block.penalties)]
    alone = all(part == "entry" for part in parts)
    seen = next((b for b in (block, *block.majorized) if "quadratic" in b.abilities), None)
    if not alone or block.prox is None or seen is None:
        return None
    form = (held if seen is block else held.majorized(B, seen)).quadratic()
    slopes, bends = form.G @ B - form.C, np.diag(form.G)
    best, least = B, held.objective(B)
    for j in np.flatnonzero(bends > 0):
        tried, own = B.copy(), slice(j, j + 1)
        tried[j] -= slopes[j] / bends[j]
        tried[own] = block.prox(tried, 1 / float(bends[j]), own)
        if (value := held.objective(tried)) < least:
            best, least = tried, value
    return best
