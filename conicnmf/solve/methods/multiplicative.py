"""Multiplicative updates of Lee and Seung, with weights and penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conicnmf.kernels.separable import minimize_separable
from conicnmf.model.blocks import Subproblem
from conicnmf.solve.methods.base import BlockSolver, Update
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    nonnegative_around,
    nonnegative_data,
    nonnegative_only,
    uncapped,
)
from conicnmf.types import Array


@dataclass(frozen=True)
class Multiplicative(BlockSolver[None]):
    """Multiply B by a power of the ratio of the two parts of its gradient; the objective never rises.

    The result minimizes a sum over entries that lies above the loss. For squares and for
    divergences with 1 ≤ β ≤ 2 the power is one. Entries that are zero stay zero, so start from
    positive factors.

    References
    ----------
    Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2000.
    Févotte and Idier, Algorithms for NMF with the β-divergence, Neural Computation 2011.

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
        nonnegative_around,
    )

    def update(self, held: Subproblem, B: Array, memo: None) -> Update[None]:
        """Apply one multiplicative step."""
        return Update(multiplicative_step(held, B), memo)


def multiplicative_step(held: Subproblem, B: Array) -> Array:
    """Return where the bound by the two parts of the gradient, penalties in it, is lowest."""
    block = held.block.separable
    assert block is not None
    bound = held.majorized(B, block).separable()
    return minimize_separable(bound.base, bound.slopes)
