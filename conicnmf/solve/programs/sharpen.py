"""The two cone programs of sparsity maximization.

`sharpen` makes the components sparser at no cost in f; `relax` then lowers f within a ball round
each sharpened component that stays clear of the cone of vectors that are not sparse enough.

The gauge q(x) = ‖x‖₂ − eᵀx/c is convex and non-negative exactly where x is sparse enough, so its
linearization bounds it from below and what `sharpen` returns is feasible. The Taylor expansion of
the sparseness itself is no such bound; that form steps back toward the start until it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cvxpy as cp
import numpy as np

from conicnmf.geometry.cones import distance_to_cone, tangent_normals
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Constraint, pieces
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.program import BlockProgram, ConicStep
from conicnmf.types import Array

Form = Literal["gauge", "taylor"]


def sparseness_bounds(block: Block) -> list[Constraint]:
    """Return the block's lower bounds on sparseness."""
    return [c for c in block.bands if not c.convex]


@dataclass(eq=False)
class ConicSharpener:
    """Both programs of a block as cone programs, for any backend."""

    block: Block
    form: Form = "gauge"
    backend: str | None = None

    def __post_init__(self) -> None:
        self._program = BlockProgram(self.block, self.backend)
        self._plain = PlainProgram(self.block)
        self._backends = chain(self.backend or "CLARABEL")

    def at(self, held: Subproblem) -> ConicSharpenStep:
        """Return the programs for a held block."""
        return ConicSharpenStep(self, self._program.at(held))

    def run(
        self,
        objective: cp.Minimize | cp.Maximize,
        constraints: Sequence[cp.Constraint],
    ) -> tuple[Array | None, list[InnerSolve]]:
        """Solve over the block's convex constraints and the given ones."""
        program = cp.Problem(objective, [*self._plain.constraints, *constraints])
        B, records = solve_along(program, self._plain.variable, self._backends)
        return (None if B is None else np.maximum(B, 0.0)), records

    @property
    def variable(self) -> cp.Variable:
        """The block's factor in the programs."""
        return self._plain.variable

    def at_most(self, step: ConicStep, level: float) -> cp.Constraint:
        """Return the constraint that the block's objective does not exceed `level`."""
        return self._plain.at_most(step.target, level)

    def objective(self, step: ConicStep) -> cp.Expression:
        """Return the block's objective as an expression."""
        return self._plain.objective(step.target)


@dataclass(eq=False)
class ConicSharpenStep:
    """The programs with the other factor fixed."""

    owner: ConicSharpener
    step: ConicStep

    def convex(self) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize f without the lower bounds."""
        solution = self.step.solve()
        return solution.B, solution.records

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self.step.value(B)

    def sharpen(self, B: Array) -> tuple[Array | None, list[InnerSolve]]:
        """Maximize the least gain in sparseness subject to f no higher than at B."""
        X, t = self.owner.variable, cp.Variable()
        constraints = [self.owner.at_most(self.step, self.step.value(B))]
        for bound in sparseness_bounds(self.owner.block):
            slopes, offsets = _linearized(bound, B, self.owner.form)
            axis = 1 if bound.each == "component" else 0
            constraints.append(cp.sum(cp.multiply(slopes, X), axis=axis) + offsets >= t)
        found, records = self.owner.run(cp.Maximize(t), constraints)
        if found is not None and self.owner.form == "taylor":
            found = _back_track(self.owner.block, B, found)
        return found, records

    def relax(self, sharp: Array) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize f within the safe distance of each sharpened component."""
        X = self.owner.variable
        constraints: list[cp.Constraint] = []
        for bound in sparseness_bounds(self.owner.block):
            rows = pieces(sharp, bound.each)
            radii = distance_to_cone(rows, bound.band()[0])
            moving = radii > 1e-9 * np.linalg.norm(rows, axis=1)
            free = X if bound.each == "component" else X.T
            fixed, loose = np.flatnonzero(~moving), np.flatnonzero(moving)
            if fixed.size:
                constraints.append(free[fixed] == rows[fixed])
            if loose.size:
                constraints.append(cp.norm(free[loose] - rows[loose], 2, axis=1) <= radii[loose])
        unit = abs(self.step.value(sharp)) or 1.0
        return self.owner.run(cp.Minimize(self.owner.objective(self.step) / unit), constraints)


def _linearized(bound: Constraint, B: Array, form: Form) -> tuple[Array, Array]:
    """Return slopes (in B's shape) and offsets of a bound linearized at B."""
    rows = pieces(B, bound.each)
    norms = np.linalg.norm(rows, axis=1)
    safe = np.where(norms > 0, norms, 1.0)[:, None]
    if form == "gauge":
        slopes = tangent_normals(rows, bound.band()[0]) / safe
        return pieces(slopes, bound.each), np.zeros(len(rows))
    n = rows.shape[1]
    units = rows / safe
    totals = units.sum(axis=1, keepdims=True)
    # The gradient of sp(x) = (√n − eᵀx/‖x‖)/(√n − 1); sp is constant along x, so no offset but sp.
    slopes = (totals * units - 1) / safe / (np.sqrt(n) - 1)
    values = (np.sqrt(n) - totals[:, 0]) / (np.sqrt(n) - 1)
    return pieces(slopes, bound.each), values


def _back_track(block: Block, start: Array, end: Array) -> Array:
    """Halve the way from the start until every lower bound holds."""
    for _ in range(50):
        if all((bound.violation(end) <= 1e-9).all() for bound in sparseness_bounds(block)):
            return end
        end = (start + end) / 2
    return start
