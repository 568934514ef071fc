"""Alternating non-negative least squares, each factor solved exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.blocks import Subproblem
from conicnmf.solve.methods.base import BlockSolver, Update
from conicnmf.solve.needs import LossWith, PenaltiesWith, nonnegative_only, uncapped
from conicnmf.types import Array


@dataclass(frozen=True)
class ANLS(BlockSolver[None]):
    """Solve each non-negative block exactly by an active-set method on its Gram matrix.

    Supports are warm-started from the last iteration; the objective never rises.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.ANLS())
    >>> round(result.objective, 12)
    0.0
    """

    needs: ClassVar = (
        uncapped,
        LossWith(("quadratic",), "which least-squares steps need"),
        PenaltiesWith(("orthant",), "which least-squares steps need"),
        nonnegative_only,
    )

    def update(self, held: Subproblem, B: Array, memo: None) -> Update[None]:
        """Minimize over the whole block."""
        quadratic = held.quadratic()
        new = nnls_gram(quadratic.G, quadratic.C, B)
        return Update(new, memo, quadratic.value(new))
