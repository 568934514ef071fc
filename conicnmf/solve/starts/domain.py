"""Bring a start to where the objective is finite: inside the domain of logarithms and the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.psd import PSD

from conicnmf.errors import InfeasibleError
from conicnmf.model.blocks import Block
from conicnmf.model.constraints import Convex
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.solve.starts.nearest import nearest
from conicnmf.types import Array, Factors

_MARGINS = (0.1, 1e-3, 1e-6)
"""How far from the border, relative to the size of the variable: as far as there is room."""


def in_domain(problem: Problem, factors: Factors) -> Factors:
    """Return the nearest factors at which the objective is finite, one variable after the other.

    Where none are found the start stays as it is: the first step may still lead inside.
    """
    if _finite_everywhere(problem) or np.isfinite(problem.objective(factors)):
        return factors
    moved = factors
    for block in problem.blocks:
        for margin in _MARGINS:
            B = _inside(block, moved, margin)
            if B is not None:
                moved = block.put(moved, B)
                break
        if np.isfinite(problem.objective(moved)):
            return moved
    upright = _upright(problem, factors)
    return upright if np.isfinite(problem.objective(upright)) else factors


def _finite_everywhere(problem: Problem) -> bool:
    """Whether the objective is a sum of squares, which takes a pass over the data to evaluate."""
    fits = len(problem.fits) == len(problem.addends)
    squares = all("reduced" in fit.loss.abilities for fit in problem.fits)
    return fits and squares and not any(block.penalties for block in problem.blocks)


def _upright(problem: Problem, factors: Factors) -> Factors:
    """Return the magnitudes of entries where constraints allow them, so that products are positive.

    CVXPY cannot say every divergence, nor where it is finite.
    """
    for block in problem.blocks:
        B = np.abs(block.rows(factors))
        if block.violation(B) <= FEASIBLE:
            factors = block.put(factors, B)
    return factors


def _inside(block: Block, factors: Factors, margin: float) -> Array | None:
    """Return the nearest B that keeps a margin to the border of its domain, if there is one."""
    B = block.rows(factors)
    domain = _Domain(block, factors, margin * (float(np.abs(B).max()) or 1.0))
    if not domain.stated(cp.Variable(block.shape)):
        return None
    inside = replace(block, constraints=(*block.constraints, Convex(domain, "the domain")))
    try:
        found = nearest(inside, B)
    except InfeasibleError:
        return None
    return found if inside.violation(found) <= FEASIBLE else None


@dataclass(frozen=True, eq=False)
class _Domain:
    """What CVXPY knows of the domain of a block's addends and penalties, with a margin."""

    block: Block
    factors: Factors
    margin: float

    def stated(self, X: cp.Variable) -> Sequence[cp.Constraint]:
        """Return the constraints that X must meet."""
        views = self.block.given(self.factors).views
        known = ["expression" in self.block.forms(addend) for addend in self.block.addends]
        parts = [view.expression(X) for view, own in zip(views, known, strict=True) if own]
        parts += [p.expression(X) for p in self.block.penalties if "expression" in p.abilities]
        found = [c for part in parts if isinstance(part, cp.Expression) for c in part.domain]
        return [c for c in found if c.variables()]  # data need no room

    def __call__(self, X: cp.Expression) -> list[cp.Constraint]:
        free = cp.Variable(self.block.shape)
        places = {id(free): X}
        return [_narrowed(c, self.margin).tree_copy(places) for c in self.stated(free)]


def _narrowed(constraint: cp.Constraint, margin: float) -> cp.Constraint:
    if isinstance(constraint, Inequality):
        return constraint.args[0] + margin <= constraint.args[1]
    if isinstance(constraint, PSD):
        return constraint.args[0] - margin * np.eye(constraint.args[0].shape[0]) >> 0
    return constraint
