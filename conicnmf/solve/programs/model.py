"""A block as a plain CVXPY program, for any backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import cvxpy as cp
import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Reduced
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import solve_along
from conicnmf.solve.programs.cuts import Cut
from conicnmf.types import Array

Target: TypeAlias = Reduced | Subproblem
"""The loss as a cone program sees it: reduced where it has that form, else as it was written."""


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

    def objective(self, target: Target) -> cp.Expression:
        """Return loss and penalties, for the reduced loss or for the held block."""
        if isinstance(target, Reduced):
            return cp.sum_squares(target.residual(self.variable)) + self.penalty
        return target.expression(self.variable) + self.penalty

    def at_most(self, target: Target, level: float, penalized: bool = True) -> cp.Constraint:
        """Return the constraint that the loss (and the penalties) do not exceed `level`."""
        unit = abs(level) or 1.0
        if not isinstance(target, Reduced):
            return self.objective(target) / unit <= level / unit
        allowed = max(level - target.constant, 0.0)
        if penalized and self.block.penalties:
            return self.objective(target) / unit <= allowed / unit
        # A norm is better conditioned than its square: the solver sees one cone of unit size.
        radius = float(np.sqrt(allowed)) or 1.0
        scaled = Reduced(target.R / radius, target.D / radius, 0.0)
        return cp.norm(cp.vec(scaled.residual(self.variable), order="F"), 2) <= float(allowed > 0)

    def _caps(self, target: Target) -> list[cp.Constraint]:
        """Return the constraints that addends stay at or below their caps."""
        if isinstance(target, Reduced):  # of the only addend, or it would not be reduced
            return [self.at_most(target, self.block.addends[0].cap, penalized=False)]
        caps = [addend.cap for addend in self.block.addends]
        return [
            view.expression(self.variable) / cap <= 1
            for view, cap in zip(target.views, caps, strict=True)
            if np.isfinite(cap)
        ]

    def solve(
        self,
        target: Target,
        cuts: Sequence[Cut],
        backends: tuple[str, ...],
        linear: Array | None = None,
        doubted: bool = False,
    ) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize loss, penalties and ⟨linear, B⟩ over B, with the cuts; see `solve_along`."""
        held = [part for cut in cuts for part in cut.constraints(self.variable)]
        held += self._caps(target) if self.block.capped else []
        objective = self.objective(target)
        if linear is not None:
            objective = objective + cp.sum(cp.multiply(linear, self.variable))
        program = cp.Problem(cp.Minimize(objective), self.constraints + held)
        return solve_along(program, self.variable, backends, doubted)
