"""Multiplicative updates of Lee and Seung, with weights and penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.model.blocks import Subproblem
from conicnmf.solve.methods.base import BlockSolver, Update
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    nonnegative_data,
    nonnegative_only,
    uncapped,
)
from conicnmf.types import Array


@dataclass(frozen=True)
class Multiplicative(BlockSolver[None]):
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

    def update(self, held: Subproblem, B: Array, memo: None) -> Update[None]:
        """Apply one multiplicative step."""
        return Update(multiplicative_step(held, B), memo)


def multiplicative_step(held: Subproblem, B: Array) -> Array:
    """Return B ⊙ N ⊘ P for the gradient P − N, penalties in P."""
    down, up = held.ratio(B)
    # Where the denominator vanishes the numerator does too: that entry has no say in the loss.
    ratio = np.divide(down, up, out=np.zeros_like(B), where=up > np.finfo(B.dtype).tiny)
    return B * ratio
