"""A block compiled once by CVXPY; new numbers are then written straight into Clarabel's data.

CVXPY lowers the user's constraints and penalties to min ½xᵀPx + qᵀx, Ax + s = b, s in cones. To
that we add the least-squares part, z = D − R B with ‖z‖² in the objective, and one row for each
possible cut. Only R, D and the cuts change between solves, and the pattern never does.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones

from conicnmf.model.blocks import Block
from conicnmf.model.terms import Each, Reduced
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
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.types import Array

_STATUS = {
    "PrimalInfeasible": cp.INFEASIBLE,
    "AlmostPrimalInfeasible": cp.INFEASIBLE_INACCURATE,
    "DualInfeasible": cp.UNBOUNDED,
    "AlmostDualInfeasible": cp.UNBOUNDED_INACCURATE,
}


class CompiledProgram:
    """The convex part of a block in Clarabel's standard form, ready for new numbers."""

    def __init__(self, block: Block, slots: Sequence[Each], dense_r: bool) -> None:
        self.block = block
        self._slots = slots
        self._lower(PlainProgram(block))
        self._assemble(dense_r)
        self._solver: Any = None

    def _lower(self, plain: PlainProgram) -> None:
        """Let CVXPY lower everything but the loss."""
        # The zero term keeps the factor in a program that does not constrain it.
        objective = plain.penalty + 0 * cp.sum(plain.variable)
        program = cp.Problem(cp.Minimize(objective), plain.constraints)
        data = program.get_problem_data("CLARABEL", solver_opts={})[0]
        self._dims, self._A0 = data["dims"], sp.coo_array(data["A"])
        self._b0, self._q0 = np.asarray(data["b"]), np.asarray(data["c"])
        count = self._q0.size
        self._P0 = sp.triu(data["P"]) if "P" in data else sp.coo_array((count, count))
        self._offset = data["param_prob"].var_id_to_col[plain.variable.id]

    def _assemble(self, dense_r: bool) -> None:
        """Lay out the rows: residuals, CVXPY's equalities, cuts, then the rest of CVXPY's."""
        r, n = self.block.shape
        size, count, zero = r * n, self._q0.size, self._dims.zero
        place = self._offset + np.arange(size).reshape(n, r).T  # column of entry (j, k) of B
        self._r_entries = np.indices((r, r)).reshape(2, -1) if dense_r else np.triu_indices(r)
        i, j = self._r_entries
        row = size + zero
        cut_rows = []
        for each in self._slots:
            along = np.indices((r, n))[0 if each == "component" else 1]
            cut_rows.append(row + along)
            row += r if each == "component" else n
        self._cuts = row - size - zero
        moved = self._A0.row + np.where(self._A0.row < zero, size, size + self._cuts)
        residual = np.arange(size)
        rows = [
            (np.arange(n)[:, None] * r + i).ravel(),
            *(rows.ravel() for rows in cut_rows),
            residual,
            moved,
        ]
        columns = [place[j].T.ravel(), *(place.ravel() for _ in cut_rows), count + residual]
        columns.append(self._A0.col)
        self._free = i.size * n + size * len(cut_rows)  # leading entries that change
        self._entries = np.concatenate([np.ones(self._free + size), self._A0.data])
        order = np.arange(1, self._entries.size + 1, dtype=float)
        shape = (size + self._cuts + self._b0.size, count + size)
        pattern = sp.coo_array(
            (order, (np.concatenate(rows), np.concatenate(columns))), shape=shape
        )
        self._A = sp.csc_array(pattern)
        self._order = self._A.data.astype(np.intp) - 1
        quadratic = sp.block_diag([self._P0, 2 * sp.eye_array(size)], format="csc")
        self._P = sp.csc_array(quadratic)
        dims = copy.copy(self._dims)
        dims.zero, dims.nonneg = zero + size, dims.nonneg + self._cuts
        self._cones = dims_to_solver_cones(dims)

    def solve(
        self,
        reduced: Reduced,
        cuts: Sequence[Cut],
        linear: Array | None = None,
    ) -> tuple[Array | None, InnerSolve]:
        """Minimize ‖D − R B‖² + ⟨linear, B⟩ + penalties over B, with the cuts."""
        begin = time.perf_counter()
        # Work in units where the residual is about one, and B too where its set is a cone.
        data_unit = float(np.linalg.norm(reduced.D)) or 1.0
        size_of_r = float(np.abs(reduced.R).max()) or 1.0
        unit = 1.0 if self._b0.any() else data_unit / size_of_r
        P, q, b = self._write(reduced, cuts, linear, data_unit, unit)
        try:
            with interruptions_held():
                status, x, iterations = self._run(P, q, b)
        except BaseException as error:
            if not is_fault(error):
                raise
            self._solver = None  # what it holds may be half written
            status, x, iterations = f"error: {in_words(error)}", q, 0
        raise_noted()
        record = InnerSolve("CLARABEL", status, iterations, time.perf_counter() - begin)
        if record.ok and not np.isfinite(x).all():
            record = replace(record, status="not finite")
        if not record.ok:
            return None, record
        r, n = self.block.shape
        B = x[self._offset : self._offset + r * n].reshape(n, r).T
        return np.ascontiguousarray(unit * B), record

    def _write(
        self,
        reduced: Reduced,
        cuts: Sequence[Cut],
        linear: Array | None,
        data_unit: float,
        unit: float,
    ) -> tuple[sp.csc_array[Any], Array, Array]:
        n = self.block.shape[1]
        i, j = self._r_entries
        R = np.broadcast_to(reduced.R, (n, *reduced.R.shape[-2:])) * (unit / data_unit)
        normals = [-cut.normals().ravel() for cut in cuts]
        self._entries[: self._free] = np.concatenate([R[:, i, j].ravel(), *normals])
        self._A.data[:] = self._entries[self._order]
        # A cut that is not active reads 0 ≤ 1, which keeps the interior non-empty.
        slack = np.concatenate(
            [np.where(cut.active, -cut.offsets() / unit, 1.0) for cut in cuts] or [np.zeros(0)]
        )
        zero = self._dims.zero
        b = np.concatenate(
            [(reduced.D / data_unit).T.ravel(), self._b0[:zero], slack, self._b0[zero:]]
        )
        penalty = unit / data_unit**2
        q = np.concatenate([penalty * self._q0, np.zeros(reduced.D.size)])
        if linear is not None:
            q[self._offset : self._offset + linear.size] += penalty * linear.T.ravel()
        P = self._P
        if self._P0.nnz:
            P = P.copy()
            P.data[P.indices < self._q0.size] *= penalty * unit
        return P, q, b

    def _run(self, P: sp.csc_array[Any], q: Array, b: Array) -> tuple[str, Array, int]:
        """Update the solver in place; set it up anew where it fails on stale scalings."""
        for attempt in range(2):
            fresh = self._solver is None or attempt == 1
            if fresh:
                self._solver = clarabel.DefaultSolver(P, q, self._A, b, self._cones, _settings())
                self._solver.set_termination_callback(self._is_late)
            else:
                self._solver.update(P=P, q=q, A=self._A, b=b)
            solution = self._solver.solve()
            if fresh or str(solution.status) == "Solved" or is_late():
                break
        status = _STATUS.get(str(solution.status), str(solution.status))
        if not status.startswith((cp.INFEASIBLE, cp.UNBOUNDED)):
            status = _judged(status, _inaccuracy(P, q, self._A, b, solution))
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


def _settings() -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.presolve_enable = False
    settings.input_sparse_dropzeros = False
    settings.direct_solve_method = "qdldl"
    settings.max_iter = 200
    # Tighter than this, programs with cones often end "almost solved".
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
    return settings
