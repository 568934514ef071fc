"""A block as a plain CVXPY program, for any backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import cvxpy as cp
import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Reduced, residual_of
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import solve_along
from conicnmf.solve.programs.cuts import Cut
from conicnmf.types import Array

Target: TypeAlias = Reduced | Subproblem
"""The loss as a cone program sees it: reduced where it has that form, else as it was written."""


@dataclass(frozen=True, eq=False)
class PlainProgram:
    """The convex part of a block, built again for each solve from CVXPY's own parts."""

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
        if not isinstance(target, Reduced):
            unit = abs(level) or 1.0
            return self.objective(target) / unit <= level / unit
        return self.below(penalized, **self.level(target, level, penalized))

    def scaled(self, target: Reduced, unit: float) -> dict[str, Any]:
        """Return the numbers of `squares` for an objective in this unit."""
        root = float(np.sqrt(unit))
        return {name: own / root for name, own in target.parts().items()} | {"scale": 1 / unit}

    def squares(self, scale: Any, **parts: Any) -> cp.Expression:
        """Return loss and penalties of a reduced loss, from numbers or parameters in their place."""
        return cp.sum_squares(residual_of(self.variable, **parts)) + scale * self.penalty

    def level(self, target: Reduced, level: float, penalized: bool = True) -> dict[str, Any]:
        """Return the numbers of `below` for this level."""
        allowed = max(level - target.constant, 0.0)
        unit = abs(level) or 1.0
        if not (penalized and self.block.penalties):
            unit = allowed or 1.0
        return {"most": np.asarray(allowed / unit), **self.scaled(target, unit)}

    def below(self, penalized: bool, *, most: Any, scale: Any, **parts: Any) -> cp.Constraint:
        """Return the constraint that a reduced loss (and the penalties) stay below a level."""
        if penalized and self.block.penalties:
            return self.squares(scale, **parts) <= most
        # A norm is better conditioned than its square: the solver sees one cone of unit size.
        return cp.norm(cp.vec(residual_of(self.variable, **parts), order="F"), 2) <= most

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
        price: float = np.inf,
    ) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize loss, penalties and ⟨linear, B⟩ over B, with the cuts; see `solve_along`.

        At a finite price each half-space may be missed by a slack, which then is paid for.
        """
        loose = [cut for cut in cuts if np.isfinite(price) and cut.active.any()]
        slacks = {id(cut): cp.Variable(int(cut.active.sum()), nonneg=True) for cut in loose}
        held = [
            part
            for cut in cuts
            for part in cut.constraints(self.variable, slacks.get(id(cut), 0.0))
        ]
        held += self._caps(target) if self.block.capped else []
        objective = self.objective(target)
        if linear is not None:
            objective = objective + cp.sum(cp.multiply(linear, self.variable))
        for slack in slacks.values():
            objective = objective + price * cp.sum(slack)
        program = cp.Problem(cp.Minimize(objective), self.constraints + held)
        return solve_along(program, self.variable, backends, doubted)
