"""Programs in Clarabel's standard form: what CVXPY makes of them, and solving them again in place."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.guard import (
    in_words,
    interrupted,
    interruptions_held,
    is_fault,
    raise_noted,
)
from conicnmf.solve.programs.backends import ENOUGH
from conicnmf.solve.programs.balance import find_balance
from conicnmf.types import Array

_STATUS = {
    "PrimalInfeasible": cp.INFEASIBLE,
    "AlmostPrimalInfeasible": cp.INFEASIBLE_INACCURATE,
    "DualInfeasible": cp.UNBOUNDED,
    "AlmostDualInfeasible": cp.UNBOUNDED_INACCURATE,
}


@dataclass(frozen=True, eq=False)
class StandardForm:
    """min ½xᵀPx + qᵀx, Ax + s = b, s in cones; P is its upper half, and x holds a variable.

    `offset` is where the variable begins in x, its columns one after the other. What CVXPY adds to
    them is in the variable's units.
    """

    P: Any
    q: Array
    A: Any
    b: Array
    dims: Any
    offset: int

    @classmethod
    def of(
        cls, objective: Any, constraints: Sequence[cp.Constraint], variable: cp.Variable
    ) -> StandardForm:
        """Let CVXPY lower a program."""
        # The zero term keeps the variable in a program that does not constrain it.
        program = cp.Problem(cp.Minimize(objective + 0 * cp.sum(variable)), list(constraints))
        data = program.get_problem_data("CLARABEL", solver_opts={})[0]
        q = np.asarray(data["c"])
        P = sp.triu(data["P"]) if "P" in data else sp.coo_array((q.size, q.size))
        offset = data["param_prob"].var_id_to_col[variable.id]
        A, b, dims = sp.coo_array(data["A"]), np.asarray(data["b"]), data["dims"]
        rows, columns = find_balance(A, dims, slice(offset, offset + variable.size))
        A, P = sp.coo_array(A), sp.coo_array(P)
        A.data = A.data * rows[A.row] * columns[A.col]
        P.data = P.data * columns[P.row] * columns[P.col]
        form = cls(P, q * columns, A, b * rows, dims, offset)
        return form.without_caps(variable.size)

    def without_caps(self, size: int) -> StandardForm:
        """Return the same program without variables that may as well be at their caps.

        For |b| ≤ c CVXPY adds t with −t ≤ b ≤ t ≤ c. Such a t costs nothing, and all rows but its
        caps are looser the larger it is: c stands in its place. The variable has this size.
        """
        A, zero, nonneg = self.A, self.dims.zero, self.dims.nonneg
        linear = (A.row >= zero) & (A.row < zero + nonneg)
        cap = linear & (A.data > 0) & (np.bincount(A.row, minlength=A.shape[0])[A.row] == 1)
        at = np.full(self.q.size, np.inf)
        np.minimum.at(at, A.col[cap], self.b[A.row[cap]] / A.data[cap])
        fixed = np.isfinite(at) & (self.q == 0)
        fixed[self.offset : self.offset + size] = False
        fixed[A.col[~cap & ~(linear & (A.data < 0))]] = False
        fixed[self.P.row] = fixed[self.P.col] = False
        if not fixed.any():
            return self
        gone = np.zeros(A.shape[0], dtype=bool)
        gone[A.row[cap & fixed[A.col]]] = True
        by_column = sp.csc_array(A)
        b = (self.b - by_column[:, fixed] @ at[fixed])[~gone]
        dims = copy.copy(self.dims)
        dims.nonneg -= int(gone.sum())
        P = sp.coo_array(sp.csc_array(self.P)[~fixed][:, ~fixed])
        kept = sp.coo_array(sp.csr_array(by_column[:, ~fixed])[~gone])
        before = int(fixed[: self.offset].sum())
        return StandardForm(P, self.q[~fixed], kept, b, dims, self.offset - before)


class Updated:
    """A solver that is set up once; new numbers in the same pattern are written into it.

    Where speed counts, its linear systems are not refined, unless it fails without that: refining
    takes a third of the time, and a point is judged by the conditions of optimality anyway.
    """

    def __init__(self, refined: bool = True) -> None:
        self._solver: Any = None
        self._refined = refined

    def solve(
        self, P: Any, q: Array, A: Any, b: Array, cones: Any, new: str = "PqAb"
    ) -> tuple[Array | None, InnerSolve]:
        """Return x, or nothing, and a record; `new` names what was changed since the last time."""
        begin = time.perf_counter()
        try:
            with interruptions_held():
                status, x, iterations = self._run(P, q, A, b, cones, new)
        except BaseException as error:
            if not is_fault(error):
                raise
            self._solver = None  # what it holds may be half written
            status, x, iterations = f"error: {in_words(error)}", q, 0
        raise_noted()
        record = InnerSolve("CLARABEL", status, iterations, time.perf_counter() - begin)
        if record.ok and not np.isfinite(x).all():
            record = replace(record, status="not finite")
        return (x if record.ok else None), record

    def _run(
        self, P: Any, q: Array, A: Any, b: Array, cones: Any, new: str
    ) -> tuple[str, Array, int]:
        """Update the solver in place; set it up again where it fails on stale scalings."""
        data = {"P": P, "q": q, "A": A, "b": b}
        for attempt in range(2):
            fresh = self._solver is None or attempt == 1
            if fresh:
                sure = self._refined or attempt == 1
                self._solver = clarabel.DefaultSolver(*data.values(), cones, _settings(sure))
                self._solver.set_termination_callback(self._is_late)
            else:
                self._solver.update(**{name: data[name] for name in new})
            solution = self._solver.solve()
            last = fresh and sure
            if last or str(solution.status) == "Solved" or is_late():
                break
        status = _STATUS.get(str(solution.status), str(solution.status))
        if not status.startswith((cp.INFEASIBLE, cp.UNBOUNDED)):
            status = _judged(status, _inaccuracy(P, q, A, b, solution))
        return status, np.asarray(solution.x), int(solution.iterations)

    def _is_late(self, _: Any) -> bool:
        return interrupted() or is_late()


def _inaccuracy(P: Any, q: Array, A: Any, b: Array, solution: Any) -> float:
    """Return how far a point is from the conditions of optimality, whatever the solver calls it.

    They are Ax + s = b, Px + q + Aᵀz = 0 and no gap, xᵀPx + qᵀx + bᵀz = 0; P is its upper half.
    """
    x, s, z = (np.asarray(part) for part in (solution.x, solution.s, solution.z))
    if not all(np.isfinite(part).all() for part in (x, s, z)):
        return np.inf
    Px, Az = P @ x + P.T @ x - P.diagonal() * x, A.T @ z
    square, linear, dual = float(x @ Px), float(q @ x), float(b @ z)
    primal = _largest(A @ x + s - b) / max(1.0, *map(_largest, (b, s, x)))
    stationary = _largest(Px + q + Az) / max(1.0, *map(_largest, (q, Px, Az)))
    gap = abs(square + linear + dual) / max(1.0, abs(square / 2 + linear))
    return max(primal, stationary, gap)


def _largest(v: Array) -> float:
    return float(np.abs(v).max(initial=0.0))


def _judged(label: str, off: float) -> str:
    """Return the status of a point that is so far from the conditions of optimality."""
    if off > 1000 * ENOUGH:
        return f"{label}, off by {off:.1e}"
    return str(cp.OPTIMAL if off <= ENOUGH else cp.OPTIMAL_INACCURATE)


def _settings(refined: bool) -> Any:
    settings = clarabel.DefaultSettings()
    settings.iterative_refinement_enable = refined
    settings.verbose = False
    settings.presolve_enable = False
    settings.input_sparse_dropzeros = False
    settings.direct_solve_method = "qdldl"
    settings.max_iter = 200
    # Tighter than this, programs with cones often end "almost solved".
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
    return settings
