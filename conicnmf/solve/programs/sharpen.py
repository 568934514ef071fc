"""The two cone programs of sparsity maximization.

`sharpen` makes the components sparser at no cost in f; `relax` then lowers f within a ball round
each sharpened component that stays clear of the cone of vectors that are not sparse enough. Other
reverse-convex constraints have no such ball; their tangents at the sharpened point, which is as far
inside as it could be brought, hold what a ball would hold and more.

The gauge q(x) = ‖x‖₂ − eᵀx/c is convex and non-negative exactly where x is sparse enough, so its
linearization bounds it from below and what `sharpen` returns is feasible. The Taylor expansion of
the sparseness itself is no such bound; that form steps back toward the start until it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import cvxpy as cp
import numpy as np

from conicnmf.geometry.cones import distance_to_cone, tangent_normals
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Constraint, Penalty, Reduced, along, pieces
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.kept import Kept
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.program import BlockProgram, ConicStep
from conicnmf.types import Array

Form = Literal["gauge", "taylor"]


def sparseness_bounds(block: Block) -> list[Constraint]:
    """Return the block's lower bounds on sparseness."""
    return [c for c in block.bands if not c.convex]


@dataclass(frozen=True, eq=False)
class Linear(Penalty):
    """The price ⟨slope, B⟩: what is left of a penalty that is not convex when it is linearized."""

    slope_there: Array

    def value(self, B: Array) -> float:
        """Return the inner product."""
        return float(np.vdot(self.slope_there, B))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the same for CVXPY."""
        return cp.sum(cp.multiply(self.slope_there, B))


@dataclass(eq=False)
class ConicSharpener:
    """Both programs of a block as cone programs, for any backend."""

    block: Block
    form: Form = "gauge"
    backend: str | None = None

    def __post_init__(self) -> None:
        self._program = BlockProgram(self.block, self.backend)
        self._backends = chain(self.backend or "CLARABEL")
        self.plain = PlainProgram(self.block)
        self.bounds = sparseness_bounds(self.block)
        self.others = [c for c in self.block.reverse_convex if c not in self.bounds]
        self.sharper, self.relaxer = Kept(self._sharper), Kept(self._relaxer)

    def at(self, held: Subproblem) -> ConicSharpenStep:
        """Return the programs for a held block."""
        return ConicSharpenStep(self, self._program.at(held))

    def planes(self, B: Array) -> tuple[Cut, ...]:
        """Return the tangents at B of what is reverse-convex and no bound on sparseness."""
        found = [c.tangent(B) for c in self.others]
        return tuple(Cut(planes, np.ones(planes.count, dtype=bool)) for planes in found)

    def run(self, program: cp.Problem) -> tuple[Array | None, list[InnerSolve]]:
        """Solve one of the programs."""
        B, records = solve_along(program, self.plain.variable, self._backends)
        return (None if B is None else np.clip(B, *self.block.bounds)), records

    def _sharper(self, pattern: Any, **numbers: Any) -> cp.Problem:
        """Build the first program; the pattern has planes, and the loss where it is not reduced."""
        stated, planes, unit = pattern
        X, t = self.plain.variable, cp.Variable()
        limits = [part for cut in planes for part in cut.constraints(X, -unit * t)]
        for k, bound in enumerate(self.bounds):
            slopes, offsets = numbers.pop(f"slopes {k}"), numbers.pop(f"offsets {k}")
            limits.append(cp.sum(cp.multiply(slopes, X), axis=along(bound.each)) + offsets >= t)
        level = self.plain.at_most(*stated) if stated else self.plain.below(True, **numbers)
        return cp.Problem(cp.Maximize(t), [*self.plain.constraints, level, *limits])

    def _relaxer(self, pattern: Any, **numbers: Any) -> cp.Problem:
        """Build the second program; the pattern says what may move, and may hold the loss."""
        stated, moving, planes = pattern
        limits = [part for cut in planes for part in cut.constraints(self.plain.variable)]
        for k, bound in enumerate(self.bounds):
            rows, radii = numbers.pop(f"rows {k}"), numbers.pop(f"radii {k}")
            X = self.plain.variable if bound.each == "component" else self.plain.variable.T
            fixed, loose = (np.flatnonzero(np.array(moving[k]) == moves) for moves in (False, True))
            if fixed.size:
                limits.append(X[fixed] == rows[fixed])
            if loose.size:
                limits.append(cp.norm(X[loose] - rows[loose], 2, axis=1) <= radii[loose])
        loss = self.plain.objective(stated[0]) / stated[1] if stated else None
        lowered = self.plain.squares(**numbers) if loss is None else loss
        return cp.Problem(cp.Minimize(lowered), [*self.plain.constraints, *limits])


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
        target, level = self.step.target, self.step.value(B)
        numbers: dict[str, Any] = {}
        for k, bound in enumerate(self.owner.bounds):
            numbers[f"slopes {k}"], numbers[f"offsets {k}"] = _linearized(bound, B, self.owner.form)
        if isinstance(target, Reduced):
            numbers |= self.owner.plain.level(target, level)
        stated = None if isinstance(target, Reduced) else (target, level)
        planes = self.owner.planes(B)
        # How far inside is measured in the units of what is bounded.
        unit = max((float(np.abs(cut.halfspaces.products(B)).max()) for cut in planes), default=1.0)
        pattern = (stated, planes, unit or 1.0)
        found, records = self.owner.run(self.owner.sharper(pattern, **numbers))
        if found is not None and self.owner.form == "taylor":
            found = _back_track(self.owner.block, B, found)
        return found, records

    def relax(self, sharp: Array) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize f within the safe distance of each sharpened component."""
        numbers: dict[str, Any] = {}
        moving = []
        for k, bound in enumerate(self.owner.bounds):
            rows = pieces(sharp, bound.each)
            radii = distance_to_cone(rows, bound.band()[0])
            moving.append(tuple(radii > 1e-9 * np.linalg.norm(rows, axis=1)))
            numbers |= {f"rows {k}": rows, f"radii {k}": radii}
        target, unit = self.step.target, abs(self.step.value(sharp)) or 1.0
        if isinstance(target, Reduced):
            numbers |= self.owner.plain.scaled(target, unit)
        stated = None if isinstance(target, Reduced) else (target, unit)
        pattern = (stated, tuple(moving), self.owner.planes(sharp))
        return self.owner.run(self.owner.relaxer(pattern, **numbers))


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
