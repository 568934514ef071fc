"""Factorizations as statements: the two blocks of a `Problem` and the solvers that take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.blocks import Blocks, Factors, blocks_of
from conicnmf.compat import mismatches
from conicnmf.errors import InputError
from conicnmf.init import as_start, feasible_start
from conicnmf.problem import Problem
from conicnmf.solvers import SOLVERS, choose
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement


@dataclass(frozen=True, eq=False)
class Factorization(Statement):
    """V ≈ W H, seen as two blocks."""

    kind = "factorization"

    blocks: Blocks

    @property
    def problem(self) -> Problem:
        """The problem the blocks came from."""
        return self.blocks.problem

    @property
    def view(self) -> Blocks:
        """The blocks."""
        return self.blocks

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of W and H."""
        return dict(zip("WH", self.problem.shapes, strict=True))

    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""
        return self.blocks.objective(factors)

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − W H‖²/‖V‖², over the weighted entries where there are weights."""
        return self.blocks.relative_error(factors)

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        return self.blocks.violations(factors)

    def collapsed(self, factors: Factors) -> bool:
        """Whether a factor lost a component it must keep."""
        return self.blocks.collapsed(factors)

    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a start brought into the constraint set."""
        return feasible_start(self.blocks, as_start(init).factors(self.blocks, rng), rng)

    def solvers(self) -> Sequence[Solver]:
        """Return one of each solver of factorizations."""
        return [kind() for kind in SOLVERS]

    def unmet(self, solver: Solver) -> list[str]:
        """Return every need of a solver that one of the blocks does not meet."""
        return mismatches(self.blocks, solver)

    def choose(self) -> tuple[Solver, str]:
        """Return the solver that fits best, and why."""
        return choose(self.blocks)


def as_statement(problem: Any) -> Statement:
    """Return what `solve` works on.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> as_statement(cn.factorize(np.eye(3), 1)).choose()[0].name
    'HALS'
    """
    if isinstance(problem, Statement):
        return problem
    if isinstance(problem, Problem):
        return Factorization(blocks_of(problem))
    raise InputError(
        f"solve takes a Problem, got {type(problem).__name__}; state it with factorize(V, rank)"
    )
