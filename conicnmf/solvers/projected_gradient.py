"""Projected gradient with exact projection and step control (Hoyer's NMFSC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.compat import (
    LossWith,
    PenaltiesWith,
    joint_projection,
    mismatches_of_block,
    orthant_penalties,
    uncapped,
)
from conicnmf.errors import InputError
from conicnmf.solvers.base import Context, Solver, Update
from conicnmf.solvers.multiplicative import Multiplicative, multiplicative_step
from conicnmf.validate import check_choice


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """A gradient step and the exact projection on the constraints; the objective never rises.

    The step is halved until the objective does not rise, and grows by a fifth after a success. A
    factor that is only non-negative takes a multiplicative step instead, as in NMFSC.

    Parameters
    ----------
    free : {"multiplicative", "gradient"}
        How a factor that is only non-negative is updated.
    max_halvings : int
        How often a step may be halved before the factor is left as it is.

    References
    ----------
    Hoyer, Non-negative matrix factorization with sparseness constraints, JMLR 2004.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7, max=0.7)])
    >>> cn.sparseness(problem.solve(cn.ProjectedGradient()).W, axis=0).round(6)
    array([0.7, 0.7])
    """

    free: str = "multiplicative"
    max_halvings: int = 60

    needs: ClassVar = (
        uncapped,
        LossWith(("gradient",), "which a gradient step needs"),
        PenaltiesWith(("gradient",), "which a gradient step needs"),
        joint_projection,
        orthant_penalties,
    )

    def __post_init__(self) -> None:
        check_choice("ProjectedGradient free", self.free, ("multiplicative", "gradient"))
        if self.max_halvings < 1:
            raise InputError(
                f"ProjectedGradient needs max_halvings >= 1, got {self.max_halvings}; try 60"
            )

    def prepare(self, block: Block, context: Context) -> float | None:
        """Return the first step size, or nothing for a factor that is updated multiplicatively."""
        if self.free == "multiplicative" and not mismatches_of_block(block, Multiplicative()):
            return None
        return 0.0

    def update(self, block: Block, A: Array, B: Array, memo: float | None) -> Update:
        """Halve the step until the objective does not rise."""
        if memo is None:
            return Update(multiplicative_step(block, A, B))
        assert block.projection is not None
        gradient = block.gradient(A, B)
        before = block.objective(A, B)
        step = memo or 1 / (2 * float(np.linalg.norm(A, 2)) ** 2 or 1.0)
        for _ in range(self.max_halvings):
            new = block.projection(B - B.dtype.type(step) * gradient)
            value = block.objective(A, new)
            if value <= before and not block.collapsed(new):
                return Update(new, 1.2 * step, value)
            step /= 2
        return Update(B, step, before)
