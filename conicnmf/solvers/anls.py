"""Alternating non-negative least squares, each factor solved exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.compat import LossWith, PenaltiesWith, nonnegative_only, uncapped
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.solvers.base import Solver, Update


@dataclass(frozen=True)
class ANLS(Solver):
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

    def update(self, block: Block, A: Array, B: Array, memo: Any) -> Update:
        """Minimize over the whole block."""
        quadratic = block.quadratic(A)
        new = nnls_gram(quadratic.G, quadratic.C, B)
        return Update(new, memo, quadratic.value(new))
