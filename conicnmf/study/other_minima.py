"""Checks of a certificate that look beyond the basin of a result: other starts, and lower bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result
from conicnmf.solve.choice import EFFORTS, choose, known_solvers, race
from conicnmf.solve.methods.base import AnySolver
from conicnmf.study.bounds.block import GlobalMinimum, block_reasons, global_block
from conicnmf.study.bounds.whole import global_minimum, whole_reasons
from conicnmf.study.check import Check
from conicnmf.study.multistart import multistart

EVERYWHERE, IN_BLOCK = "global", "global in "
_FOUND = 1e-6
"""A point is lower when it is so by this part of the objective."""


def gap_to_other_starts(
    problem: BaseProblem, result: Result, restarts: int, solver: AnySolver | None, size: float
) -> Iterator[Check]:
    """Solve again from other starts, and report how far below the result the best of them ends.

    A result may be stationary and yet not the best, so this informs and fails nothing.
    """
    if not restarts:
        return
    method = _solver_of(problem, result) if solver is None else solver
    runs = multistart(problem, method, restarts, seed=(result.seed or 0) + 1)
    gap = max(0.0, result.objective - float(runs.objectives[0])) / (size or 1.0)
    lower = int((runs.objectives < result.objective - _FOUND * size).sum())
    note = f"{lower} of {len(runs.objectives)} other starts end lower"
    yield Check("gap to other basins", gap, np.inf, note)


def _solver_of(problem: BaseProblem, result: Result) -> AnySolver:
    """Return the solver of a result, which knows its text."""
    races = [race(problem, effort) for effort in EFFORTS]
    listed = [choose(problem)[0], *known_solvers(problem), *filter(None, races)]
    for solver in listed:
        if str(solver) == result.solver:
            return solver
    raise InputError(
        f"restarts need the solver, and {result.solver} has settings of its own; pass solver="
    )


def global_gaps(
    problem: BaseProblem, result: Result, budget: int, size: float, tolerance: float
) -> Iterator[Check]:
    """Bound the problem from below, over all factors where that can be done, else block by block."""
    if not budget:
        return
    if not whole_reasons(problem):
        found = global_minimum(problem, result.factors, budget=budget, gap=tolerance / 2)
        yield _judged(EVERYWHERE, result, found, size, tolerance)
    for block in problem.blocks:
        if block.reverse_convex and not block_reasons(block):
            found = global_block(
                problem, result.factors, block.name, budget=budget, gap=tolerance / 2
            )
            yield _judged(IN_BLOCK + block.name, result, found, size, tolerance)


def _judged(
    name: str, result: Result, found: GlobalMinimum, size: float, tolerance: float
) -> Check:
    """Return the gap to the bound; what is not proved informs and fails nothing."""
    gap = max(0.0, result.objective - found.lower) / (size or 1.0)
    if gap <= tolerance:
        return Check(name, gap, tolerance, f"gap to a lower bound, {found.cells} cells")
    better = max(0.0, result.objective - found.objective) / (size or 1.0)
    if better <= _FOUND:
        return Check(name, gap, np.inf, f"not proved with {found.cells} cells")
    return Check(name, gap, np.inf, f"it is not: a point {better:.2%} lower was found")
