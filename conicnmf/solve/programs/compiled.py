"""A block compiled once by CVXPY; new numbers are then written straight into Clarabel's data.

CVXPY lowers the user's constraints and penalties to min ½xᵀPx + qᵀx, Ax + s = b, s in cones. To
that we add the least-squares part, z = D − R B with ‖z‖² in the objective, and one row for each
possible cut. Only R, D and the cuts change between solves, and the pattern never does.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones

from conicnmf.model.blocks import Block
from conicnmf.model.terms import Reduced
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.standard_form import StandardForm, Updated
from conicnmf.types import Array

Places: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Slot:
    """Room for half-spaces: which entries of B, row by row, the normal of each may have."""

    rows: Places
    columns: Places
    count: int

    @classmethod
    def of(cls, shape: tuple[int, int], cut: Cut) -> Slot:
        """Return room for the half-spaces of a cut."""
        spaces = cut.halfspaces
        if spaces.each == "factor":
            rows, columns = sp.coo_array(spaces.normals).coords
            return cls(np.asarray(rows), np.asarray(columns), spaces.count)
        along = np.indices(shape)[0 if spaces.each == "component" else 1].ravel()
        return cls(along, np.arange(along.size), spaces.count)

    def holds(self, other: Slot) -> bool:
        """Whether there is room for what another one holds."""
        if np.array_equal(self.rows, other.rows) and np.array_equal(self.columns, other.columns):
            return True
        width = 1 + max(self.columns.max(initial=0), other.columns.max(initial=0))
        mine, theirs = (slot.rows * width + slot.columns for slot in (self, other))
        return bool(np.isin(theirs, mine).all())

    def joined(self, other: Slot) -> Slot:
        """Return room for what either holds."""
        both = np.unique(
            np.concatenate([(s.rows, s.columns) for s in (self, other)], axis=1), axis=1
        )
        return Slot(both[0], both[1], max(self.count, other.count))


class CompiledProgram:
    """The convex part of a block in Clarabel's standard form, ready for new numbers."""

    def __init__(self, block: Block, slots: Sequence[Slot], dense_r: bool) -> None:
        self.block = block
        self.slots = slots
        plain = PlainProgram(block)
        self._form = StandardForm.of(plain.penalty, plain.constraints, plain.variable)
        self._assemble(dense_r)
        self._solver = Updated()

    def _assemble(self, dense_r: bool) -> None:
        """Lay out the rows: residuals, CVXPY's equalities, cuts, then the rest of CVXPY's."""
        r, n = self.block.shape
        size, count, zero = r * n, self._form.q.size, self._form.dims.zero
        place = self._form.offset + np.arange(size).reshape(n, r).T  # column of entry (j, k) of B
        self._r_entries = np.indices((r, r)).reshape(2, -1) if dense_r else np.triu_indices(r)
        i, j = self._r_entries
        row = size + zero
        cut_rows = []
        for slot in self.slots:
            cut_rows.append(row + slot.rows)
            row += slot.count
        self._cuts = row - size - zero
        moved = self._form.A.row + np.where(self._form.A.row < zero, size, size + self._cuts)
        residual = np.arange(size)
        rows = [
            (np.arange(n)[:, None] * r + i).ravel(),
            *cut_rows,
            residual,
            moved,
        ]
        cut_columns = [place.ravel()[slot.columns] for slot in self.slots]
        columns = [place[j].T.ravel(), *cut_columns, count + residual, self._form.A.col]
        self._free = i.size * n + sum(map(len, cut_rows))  # leading entries that change
        self._entries = np.concatenate([np.ones(self._free + size), self._form.A.data])
        order = np.arange(1, self._entries.size + 1, dtype=float)
        shape = (size + self._cuts + self._form.b.size, count + size)
        pattern = sp.coo_array(
            (order, (np.concatenate(rows), np.concatenate(columns))), shape=shape
        )
        self._A = sp.csc_array(pattern)
        self._order = self._A.data.astype(np.intp) - 1
        quadratic = sp.block_diag([self._form.P, 2 * sp.eye_array(size)], format="csc")
        self._P = sp.csc_array(quadratic)
        dims = copy.copy(self._form.dims)
        dims.zero, dims.nonneg = zero + size, dims.nonneg + self._cuts
        self._cones = dims_to_solver_cones(dims)

    def solve(
        self,
        reduced: Reduced,
        cuts: Sequence[Cut],
        linear: Array | None = None,
    ) -> tuple[Array | None, InnerSolve]:
        """Minimize ‖D − R B‖² + ⟨linear, B⟩ + penalties over B, with the cuts."""
        # Work in units where the residual is about one, and B too where its set is a cone.
        data_unit = float(np.linalg.norm(reduced.D)) or 1.0
        size_of_r = float(np.abs(reduced.R).max()) or 1.0
        unit = 1.0 if self._form.b.any() else data_unit / size_of_r
        P, q, b = self._write(reduced, cuts, linear, data_unit, unit)
        x, record = self._solver.solve(P, q, self._A, b, self._cones)
        if x is None:
            return None, record
        r, n = self.block.shape
        B = x[self._form.offset : self._form.offset + r * n].reshape(n, r).T
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
        pairs = list(zip(self.slots, cuts, strict=True))
        normals = [-cut.entries(slot.rows, slot.columns) for slot, cut in pairs]
        self._entries[: self._free] = np.concatenate([R[:, i, j].ravel(), *normals])
        self._A.data[:] = self._entries[self._order]
        # A cut that is not active reads 0 ≤ 1, which keeps the interior non-empty.
        slack = np.concatenate([_slack(slot, cut, unit) for slot, cut in pairs] or [np.zeros(0)])
        zero = self._form.dims.zero
        b = np.concatenate(
            [(reduced.D / data_unit).T.ravel(), self._form.b[:zero], slack, self._form.b[zero:]]
        )
        penalty = unit / data_unit**2
        q = np.concatenate([penalty * self._form.q, np.zeros(reduced.D.size)])
        if linear is not None:
            q[self._form.offset : self._form.offset + linear.size] += penalty * linear.T.ravel()
        P = self._P
        if self._form.P.nnz:
            P = P.copy()
            P.data[P.indices < self._form.q.size] *= penalty * unit
        return P, q, b


def _slack(slot: Slot, cut: Cut, unit: float) -> Array:
    if cut.halfspaces.count < slot.count:
        return np.ones(slot.count)  # no cut at all
    return np.where(cut.active, -cut.offsets() / unit, 1.0)
