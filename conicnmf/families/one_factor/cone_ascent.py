"""One column by cone programs: maximize the linearized quadratic, and linearize again.

½wᵀAw is convex where A is positive semi-definite, so it lies above its linearization: the maximizer
of ⟨Aw, ·⟩ over a convex set is never worse than w. A = ggᵀ needs no iteration: the larger of
max ⟨g, w⟩ and max ⟨−g, w⟩ is the global maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import cvxpy as cp
import numpy as np

from conicnmf.families.one_factor.needs import (
    bounded,
    cone_forms,
    convex_gain,
    one_column,
    quadratic,
)
from conicnmf.families.one_factor.operators import dense
from conicnmf.families.one_factor.problem import OneFactorProblem
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.terms import Constraint
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import InnerSolve, Status
from conicnmf.solve.methods.base import ENGINES, Context, Need, Solver, Sweep
from conicnmf.solve.programs.backends import chain
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors
from conicnmf.validate import check_choice

if TYPE_CHECKING:
    from conicnmf.families.one_factor.quadratic import QuadraticProjection


@dataclass(frozen=True, eq=False, repr=False)
class InNorm(Constraint):
    """‖Lᵀw‖ ≤ 1, a second-order cone; w is the only row of B."""

    L: Array

    def __repr__(self) -> str:
        return "wᵀBw ≤ 1"

    def violation(self, B: Array) -> Array:
        """Return the excess of the norm."""
        return np.asarray(np.maximum(np.linalg.norm(B @ self.L, axis=1) - 1, 0.0))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the cone."""
        return [cp.norm(cp.vec(B @ self.L, order="F"), 2) <= 1]


@dataclass(frozen=True)
class ConeAscent(Solver["QuadraticProjection", "_Memo"]):
    """Maximize ½wᵀAw over w ≥ 0 with wᵀBw ≤ 1 by second-order cone programs, never falling.

    With A of rank one, as between two classes, two programs give the global maximum. Sparseness
    from below is held by tangent planes at the iterate. An indefinite A is shifted by a multiple of
    B, which changes nothing where wᵀBw = 1.

    Parameters
    ----------
    engine : {"auto", "native", "conic"}
        "native" solves the programs without further constraints as non-negative least squares,
        "conic" always calls a cone solver.
    backend : str, optional
        An installed CVXPY solver to try first.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ConeAscent, Discriminant
    >>> rng = np.random.default_rng(0)
    >>> V, y = rng.random((4, 40)), np.repeat([0, 1], 20)
    >>> sparse = Discriminant(V, y, constraints=[cn.Sparseness(min=0.7)])
    >>> free = cn.solve(Discriminant(V, y), ConeAscent())
    >>> free.objective <= cn.solve(sparse, ConeAscent()).objective
    True
    """

    engine: Literal["auto", "native", "conic"] = "auto"
    backend: str | None = None
    solves: ClassVar[type[BaseProblem]] = OneFactorProblem
    needs: ClassVar[Sequence[Need]] = (quadratic, one_column, convex_gain, bounded, cone_forms)
    default_stop: ClassVar[Stop] = MaxIter(200) | RelDecrease(1e-7)

    def __post_init__(self) -> None:
        check_choice("ConeAscent engine", self.engine, ENGINES)
        chain(self.backend)

    def start(self, problem: QuadraticProjection, context: Context) -> _Memo:
        """Return the steps that the settings and the constraints ask for."""
        native = self.engine != "conic" and not problem.constraints and self.backend is None
        if native:
            return _Native(problem), True
        return _Conic(problem, self.backend or "CLARABEL", context.deadline), True

    def sweep(self, problem: QuadraticProjection, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Maximize the linearized objective and keep the best feasible point."""
        steps, fresh = memo
        targets = aims(problem, factors["W"])
        found, records = steps.best(targets, factors["W"][:, 0], fresh)
        if not found:
            return Sweep(factors, memo, status=Status.BACKEND_FAILED, inner=tuple(records))
        points = [factors, *({"W": point[:, None].astype(problem.dtype)} for point in found)]
        best = min(points, key=lambda there: _rank(problem, there))
        final = len(targets) == 2 and all(c.convex for c in problem.constraints)
        status = Status.CONVERGED if final or best is factors else None
        return Sweep(best, (steps, False), problem.objective(best), status, tuple(records))


def _rank(view: QuadraticProjection, factors: Factors) -> tuple[bool, float]:
    """Return a key that sorts feasible points first, by their objective, others by violation."""
    violation = max(view.violations(factors).values())
    infeasible = violation > FEASIBLE or view.collapsed(factors)
    return infeasible, violation if infeasible else view.objective(factors)


def aims(problem: QuadraticProjection, W: Array) -> list[Array]:
    """Return the directions to maximize along: g and −g where A = ggᵀ, the gradient elsewhere."""
    if problem.single is not None:
        return [problem.single, -problem.single]
    return [problem.at(W).G[:, 0] + (problem.shift or 0.0) * problem.in_norm(W[:, 0])]


class _Native:
    """max ⟨g, w⟩ over w ≥ 0, wᵀBw ≤ 1 is min ½wᵀBw − ⟨g, w⟩ over w ≥ 0, up to scale."""

    def __init__(self, view: QuadraticProjection) -> None:
        self.view = view
        self.B = None if view.norm is None else dense(view.norm).astype(float)

    def best(
        self, aims: list[Array], w: Array, fresh: bool
    ) -> tuple[list[Array], list[InnerSolve]]:
        """Return the maximizer for each direction that some w ≥ 0 agrees with."""
        found = []
        for g in aims:
            if self.B is None:
                best = np.maximum(g, 0.0) if g.max() > 0 else np.eye(1, len(g), int(g.argmax()))[0]
            else:
                best = nnls_gram(self.B, (g / (np.abs(g).max() or 1.0))[:, None])[:, 0]
            if best.any():
                found.append(self.view.scaled(best[:, None]).W[:, 0])
        return found, []


class _Conic:
    """The same as a second-order cone program, with every further constraint."""

    def __init__(self, view: QuadraticProjection, backend: str, deadline: float) -> None:
        self.view, self.deadline = view, deadline
        m = view.shapes["W"][0]
        block = Block("W", (1, m), False, (), (*view.every, InNorm(view.root)), ())
        self.program = BlockProgram(block, backend)

    def best(
        self, aims: list[Array], w: Array, fresh: bool
    ) -> tuple[list[Array], list[InnerSolve]]:
        """Return points found with planes at w and, at first, with planes where the optimum is."""
        found: list[Array | None] = []
        records: list[InnerSolve] = []
        row = np.asarray(w, dtype=float)[None, :]
        reverse = self.program.block.reverse_convex
        feasible = all(c.violation(row).max(initial=0.0) <= FEASIBLE for c in reverse)
        # Planes at w keep w: only the direction that w has can be improved on with them.
        for g in aims if fresh or not reverse else [g for g in aims if g @ w > 0]:
            aim = (g / (np.linalg.norm(g) or 1.0))[None, :]
            step = self.program.at(self.program.block.given({}), linear=-aim)
            if feasible:
                cuts = [Cut(c.tangent(row), np.ones(1, dtype=bool)) for c in reverse]
                solution = step.solve(cuts, self.deadline)
                records += solution.records
                found.append(solution.B)
            if reverse and (fresh or not feasible):
                outcome = tangent_step(step, row, TangentLoop(rounds=4), self.deadline)
                records += outcome.records
                found.append(outcome.B)
        polished = [self._polished(B[0]) for B in found if B is not None and np.any(B > 0)]
        return [b for b in polished if b is not None], records

    def _polished(self, w: Array) -> Array | None:
        """Return w without the solver's small violations, on the largest scale allowed."""
        view = self.view
        column = np.ascontiguousarray(w)[:, None]
        if view.constraints and view.projection is not None:
            column = view.projection(np.ascontiguousarray(column.T)).T
        square = float(np.sum(column * view.in_norm(column)))
        if square <= 0:
            return None
        grow = view.scale_free or square > 1
        return np.asarray(column / np.sqrt(square) if grow else column)[:, 0]


_Memo = tuple[_Native | _Conic, bool]
"""The steps, and whether none has been taken yet."""
