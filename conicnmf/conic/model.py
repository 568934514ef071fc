"""A block as a plain CVXPY program, for any backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cvxpy as cp
import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.conic.backends import InnerSolve, solve_along
from conicnmf.conic.cuts import Cut
from conicnmf.terms import Reduced


@dataclass(frozen=True, eq=False)
class PlainProgram:
    """The convex part of a block, built anew for each solve from CVXPY's own parts."""

    block: Block

    @cached_property
    def variable(self) -> cp.Variable:
        """The block's factor."""
        return cp.Variable(self.block.shape, name="B")

    @cached_property
    def constraints(self) -> list[cp.Constraint]:
        """The convex parts of the block's constraints."""
        return [part for c in self.block.constraints for part in c.cone(self.variable)]

    @cached_property
    def penalty(self) -> cp.Expression | float:
        """The block's penalties."""
        return sum(penalty.expression(self.variable) for penalty in self.block.penalties)

    def objective(self, target: Reduced | Array) -> cp.Expression:
        """Return loss and penalties, for the reduced loss or for the other factor."""
        if isinstance(target, Reduced):
            return least_squares(target, self.variable) + self.penalty
        return self.block.loss.expression(self.block.Y, target, self.variable) + self.penalty

    def solve(
        self,
        target: Reduced | Array,
        cuts: Sequence[Cut],
        backends: tuple[str, ...],
        seconds: float | None = None,
    ) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize over B, with the cuts."""
        held = [part for cut in cuts for part in cut.constraints(self.variable)]
        program = cp.Problem(cp.Minimize(self.objective(target)), self.constraints + held)
        return solve_along(program, self.variable, backends, seconds)


def least_squares(reduced: Reduced, B: cp.Expression) -> cp.Expression:
    """Return ‖D − R B‖² as an expression."""
    if reduced.R.ndim == 2:
        return cp.sum_squares(reduced.D - reduced.R @ B)
    # One R for each column: R_k b_k is the sum over j of column j of R_k times B_jk.
    columns = reduced.R.transpose(1, 2, 0)  # (i, j, k)
    model = sum(
        cp.multiply(columns[:, j, :], cp.vstack([B[j, :]] * columns.shape[0]))
        for j in range(columns.shape[1])
    )
    return cp.sum_squares(np.asarray(reduced.D) - model)
