"""Multiplicative updates of Lee and Seung, with weights and penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.compat import LossWith, PenaltiesWith, nonnegative_data, nonnegative_only, uncapped
from conicnmf.solvers.base import Solver, Update


@dataclass(frozen=True)
class Multiplicative(Solver):
    """Multiply B by the ratio of the two parts of its gradient; the objective never rises.

    Entries at zero stay there, so start from positive factors.

    References
    ----------
    Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2000.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.Multiplicative())
    >>> bool((np.diff(result.history.objective) <= 1e-12).all())
    True
    """

    needs: ClassVar = (
        uncapped,
        LossWith(("ratio",), "which multiplicative updates need"),
        PenaltiesWith(("orthant",), "which multiplicative updates need"),
        nonnegative_only,
        nonnegative_data,
    )

    def update(self, block: Block, A: Array, B: Array, memo: Any) -> Update:
        """Apply one multiplicative step."""
        return Update(multiplicative_step(block, A, B), memo)


def multiplicative_step(block: Block, A: Array, B: Array) -> Array:
    """Return B ⊙ N ⊘ P for the gradient P − N, penalties in P."""
    down, up = block.loss.ratio(block.Y, A, B)
    slope, curvature = block.orthant
    up = up + slope + curvature * B
    # Where the denominator vanishes the numerator does too: that entry has no say in the loss.
    ratio = np.divide(down, up, out=np.zeros_like(B), where=up > np.finfo(B.dtype).tiny)
    return B * ratio
