"""Projected gradient with exact projection and step control (Hoyer's NMFSC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.settings import Count
from conicnmf.solve.methods.base import BlockSolver, Context, Seen, Update
from conicnmf.solve.methods.multiplicative import Multiplicative, multiplicative_step
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    bounded_gains,
    joint_projection,
    orthant_penalties,
    uncapped,
    without_kinks,
)
from conicnmf.types import Array


@dataclass(frozen=True)
class ProjectedGradient(BlockSolver[float | None]):
    """A gradient step and the exact projection on the constraints; the objective never rises.

    The first step is one over the largest curvature of the block. It is halved until the objective
    does not rise, and grows by a fifth after a success.

    Parameters
    ----------
    free : {"gradient", "multiplicative"}
        How a factor that is only non-negative is updated: like any other, or by a multiplicative
        step, as in the published NMFSC. Data or other factors with negative entries always lead to
        gradient steps.
    max_halvings : int
        How many times a step may be halved before the factor is left unchanged.

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

    free: Literal["gradient", "multiplicative"] = "gradient"
    max_halvings: Count = 60

    needs: ClassVar = (
        uncapped,
        LossWith(("gradient",), "which a gradient step needs"),
        without_kinks,
        PenaltiesWith(("gradient",), "which a gradient step needs"),
        joint_projection,
        bounded_gains,
        orthant_penalties,
    )

    def start(self, problem: Problem, context: Context) -> dict[str, Seen[float | None]]:
        """Prepare every block; next to a signed factor no part of the gradient has a sign."""
        seen = super().start(problem, context)
        if all(block.nonneg for block in problem.blocks):
            return seen
        return {name: Seen(own.block, 0.0) for name, own in seen.items()}

    def prepare(self, block: Block, context: Context) -> float | None:
        """Return the first step size, or nothing for a factor that is updated multiplicatively."""
        if self.free == "multiplicative" and not Multiplicative().unmet(block):
            return None
        return 0.0

    def update(self, held: Subproblem, B: Array, memo: float | None) -> Update[float | None]:
        """Halve the step until the objective does not rise."""
        if memo is None:
            return Update(multiplicative_step(held, B), None)
        block = held.block
        assert block.projection is not None
        gradient = held.gradient(B)
        before = held.objective(B)
        step = memo or held.step_size
        for _ in range(self.max_halvings):
            new = block.projection(B - B.dtype.type(step) * gradient)
            value = held.objective(new)
            if value <= before and not block.collapsed(new):
                return Update(new, 1.2 * step, value)
            step /= 2
        return Update(B, step, before)

    def pack(self, memo: dict[str, Seen[float | None]]) -> dict[str, Array]:
        """Return the step sizes, so that a solve goes on to the last bit."""
        return {name: np.array([own.memo]) for name, own in memo.items() if own.memo is not None}

    def unpack(
        self, arrays: dict[str, Array], memo: dict[str, Seen[float | None]]
    ) -> dict[str, Seen[float | None]]:
        """Return the step sizes that `pack` wrote."""
        return memo | {name: Seen(memo[name].block, float(X[0])) for name, X in arrays.items()}
