"""Columns by cone programs: maximize the linearized quadratic, and linearize again.

½wᵀAw is convex where A is positive semi-definite, so it lies above its linearization: the maximizer
of ⟨Aw, ·⟩ over a convex set is never worse than w. A = ggᵀ needs no iteration: the larger of
max ⟨g, w⟩ and max ⟨−g, w⟩ is the global maximum. Several orthonormal columns W ≥ 0 share no row, so
each may be improved in turn on the rows that no other column uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.families.one_factor.column_steps import ConicColumn, NativeColumn
from conicnmf.families.one_factor.cone_descent import ConeColumn
from conicnmf.families.one_factor.exchanges import best_column
from conicnmf.families.one_factor.needs import (
    cone_forms,
    known_operator,
    normalized,
    one_norm,
    quadratic,
)
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.base import BaseProblem
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import InnerSolve, Status
from conicnmf.solve.methods.base import Context, Engine, Sweep
from conicnmf.solve.programs.backends import Backend
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_Memo = tuple[NativeColumn | ConeColumn | ConicColumn, bool]
"""The steps, and whether none has been taken yet."""


def separable(view: OneFactor) -> Iterator[str]:
    """Yield a reason where several columns are not kept apart."""
    if view.rank > 1 and view.parts is None:
        yield f"{view.rank} columns that may overlap are not improved one by one"


@dataclass(frozen=True)
class ConeAscent(OneFactorSolver[_Memo]):
    """Maximize ½tr(WᵀAW) over W ≥ 0 by second-order cone programs, never falling.

    With A of rank one, as between two classes, two programs give the global maximum. Sparseness
    from below is held by tangent planes at the iterate. An indefinite A is shifted by a multiple of
    B, which changes nothing where wᵀBw = 1. Where B is singular and the maximum infinite, it ends
    with the direction along which it is.

    Parameters
    ----------
    engine : {"auto", "native", "conic"}
        "native" solves the programs without further constraints as non-negative least squares, and
        those of one column in a cone with a projection, such as bounds on sparseness, by accelerated
        projected steps; "conic" always calls a cone solver.
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

    engine: Engine = "auto"
    backend: Backend = None
    asks: ClassVar[Sequence[ViewNeed]] = (
        quadratic,
        normalized,
        one_norm,
        separable,
        known_operator,
        cone_forms,
    )
    default_stop: ClassVar[Stop] = MaxIter(200) | RelDecrease(1e-7)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked: for one column, and for several with further constraints."""
        view = one_factor(problem)
        trapped = view is not None and view.rank > 1 and not view.others
        return "" if trapped else "each step is a convex program, and none is worse than the last"

    def begin(self, view: OneFactor, context: Context) -> _Memo:
        """Return the steps that the settings and the constraints ask for."""
        if self.engine != "conic" and self.backend is None:
            if not view.others:
                return NativeColumn(view), True
            if ConeColumn.fits(view):
                return ConeColumn(view), True
        return ConicColumn(view, self.backend or "CLARABEL"), True

    def advance(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Maximize the linearized objective of each column, and keep the best feasible point."""
        steps, fresh = memo
        W = apart(view, factors[view.name])
        if fresh and view.rank > 1:
            W = min((W, unit_columns(view)), key=lambda X: _rank(view, view.factors(X)))
        records: list[InnerSolve] = []
        best = view.factors(W)
        failed = False
        for j in range(view.rank):
            targets = aims(view, best[view.name], j)
            if fresh and view.rank == 1 and len(targets) == 1 and view.fixed is not None:
                # The leading direction, either way round, is where a good optimum often is.
                targets = [*targets, view.fixed.top_vector, -view.fixed.top_vector]
            found, tried = steps.best(targets, best[view.name], j, fresh)
            records += tried
            failed = failed or not found
            points = [best, *(view.factors(_with_column(best[view.name], j, w)) for w in found)]
            best = min(points, key=lambda there: _rank(view, there))
        if (
            fresh
            and view.rank == 1
            and view.norm is None
            and not view.others
            and view.single is None
        ):
            best = view.factors(best_column(view, best[view.name]))
        if failed and view.rank == 1:
            return Sweep(factors, memo, status=Status.BACKEND_FAILED, inner=tuple(records))
        still = np.array_equal(best[view.name], factors[view.name])
        final = view.rank == 1 and view.single is not None and all(c.convex for c in view.others)
        status = Status.CONVERGED if final or still else None
        value = float(view.term.value(best[view.name].T))
        return Sweep(best, (steps, False), value, status, tuple(records))


def apart(view: OneFactor, W: Array) -> Array:
    """Return W, its columns kept apart where they must be."""
    if view.rank == 1 or view.parts is None:
        return W
    overlap = (W > 0).sum(axis=1).max() > 1
    return np.ascontiguousarray(view.parts.separate(W.T).T) if overlap else W


def unit_columns(view: OneFactor) -> Array:
    """Return the unit vectors of the largest entries on the diagonal of A, one a column."""
    assert view.fixed is not None
    chosen = np.argsort(-view.fixed.diagonal(), kind="stable")[: view.rank]
    return np.asarray(np.eye(view.size)[:, chosen])


def _with_column(W: Array, j: int, w: Array) -> Array:
    changed = np.array(W)
    changed[:, j] = w
    return changed


def _rank(view: OneFactor, factors: Factors) -> tuple[bool, float]:
    """Return a key that sorts feasible points first, by their objective, others by violation."""
    B = np.ascontiguousarray(factors[view.name].T)
    violation = view.block.violation(B)
    infeasible = violation > FEASIBLE or not B.any(axis=1).all()
    return infeasible, violation if infeasible else float(view.term.value(B))


def aims(view: OneFactor, W: Array, j: int = 0) -> list[Array]:
    """Return the directions to maximize along: g and −g where A = ggᵀ, the gradient elsewhere."""
    if view.single is not None and view.rank == 1:
        return [view.single, -view.single]
    w = np.ascontiguousarray(W[:, [j]])
    return [(view.operator(W) @ w + (view.shift or 0.0) * view.in_norm(w))[:, 0]]
