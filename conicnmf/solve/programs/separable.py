"""A block whose loss is a sum over entries, solved without a cone solver: one root for each piece."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.kernels.separable import minimize_separable
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Constraint, Halfspaces, Separable, pieces
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.program import Solution
from conicnmf.types import Array, Mask


def separable_reasons(block: Block) -> Iterator[str]:
    """Yield why the pieces of a block have no closed form; nothing where each has one plane at most."""
    if "separable" not in block.abilities:
        yield f"the loss is not a sum over the entries of {block.name}"
    others = _beyond_orthant(block)
    for constraint in others:
        flat = bool((constraint.band()[1] == 1).all()) if "band" in constraint.abilities else False
        if "plane" not in constraint.abilities and not flat:
            yield f"{constraint} on {block.name} needs the cone solver"
    if len(others) > 1 or not block.nonneg:
        yield f"{block.name} needs B >= 0 and one more constraint at most"
    if block.capped:
        yield "the loss has a cap"
    for penalty in block.penalties:
        if "orthant" not in penalty.abilities:
            yield f"{penalty} on {block.name} needs the cone solver"


def _beyond_orthant(block: Block) -> list[Constraint]:
    """Return the constraints that say more than B ≥ 0."""
    return [c for c in block.constraints if not _is_orthant(c)]


def _is_orthant(constraint: Constraint) -> bool:
    if "bounds" not in constraint.abilities:
        return False
    lower, upper = constraint.bounds()
    return bool((lower == 0).all() and (upper == np.inf).all())


class SeparableProgram:
    """The convex part of a block as sums over entries; the twin of `NativeProgram`."""

    def __init__(self, block: Block) -> None:
        self.block = block
        own = [c for c in _beyond_orthant(block) if "plane" in c.abilities]
        self.plane = own[0].plane(block.shape) if own else None

    def at(self, held: Subproblem, linear: Array | None = None) -> SeparableStep:
        """Return the program of a held block, with ⟨linear, B⟩ added to the objective."""
        bound = held.separable()
        if linear is not None:
            flat = bound.slopes.get(0.0, 0 * bound.base) + linear
            bound = replace(bound, slopes={**bound.slopes, 0.0: flat})
        return SeparableStep(self, held, bound, linear)


@dataclass(eq=False)
class SeparableStep:
    """A block with the other factor fixed."""

    program: SeparableProgram
    held: Subproblem
    bound: Separable
    linear: Array | None = None

    leaves_dust: ClassVar[bool] = True

    @property
    def block(self) -> Block:
        """The block that is solved."""
        return self.program.block

    def solve(self, cuts: Sequence[Cut] | None = None) -> Solution:
        """Minimize over B with the cut, none by default."""
        begin = time.perf_counter()
        plane, held, equal = self._plane(cuts)
        if plane is None:
            B = minimize_separable(self.bound.base, self.bound.slopes)
        else:
            rows = {e: pieces(w, plane.each) for e, w in self.bound.slopes.items()}
            base, normals = (pieces(X, plane.each) for X in (self.bound.base, plane.normals))
            B = pieces(
                minimize_separable(base, rows, normals, plane.levels, held, equal), plane.each
            )
        record = InnerSolve("NATIVE", cp.OPTIMAL, 1, time.perf_counter() - begin)
        return Solution(np.ascontiguousarray(B), [record])

    def _plane(self, cuts: Sequence[Cut] | None) -> tuple[Halfspaces | None, Mask | None, bool]:
        """Return the plane of each piece, which pieces it holds, and whether it is an equation."""
        if self.program.plane is not None:
            return self.program.plane, np.ones(self.program.plane.count, dtype=bool), True
        if cuts and cuts[0].active.any():
            return cuts[0].halfspaces, cuts[0].active, False
        return None, None, False

    def uncapped(self) -> SeparableStep:
        """Return the step itself: a capped loss goes to the cone solver."""
        return self

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        extra = 0.0 if self.linear is None else float(np.vdot(self.linear, B))
        return self.held.objective(B) + extra
