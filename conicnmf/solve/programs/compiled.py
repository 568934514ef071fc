"""A block compiled once by CVXPY; new numbers are then written straight into Clarabel's data.

CVXPY lowers the user's constraints and penalties to min ½xᵀPx + qᵀx, Ax + s = b, s in cones. To
that we add the least-squares part, z = D − R B with ‖z‖² in the objective, and one row for each
possible cut. Where speed counts more than the last digits, RᵀR is in P instead: z is most of a program.
Only R, D and the cuts change between solves, and the pattern never does.
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

    def __init__(
        self, block: Block, slots: Sequence[Slot], dense_r: bool, squared: bool = False
    ) -> None:
        self.block = block
        self.slots = slots
        plain = PlainProgram(block)
        self._form = StandardForm.of(plain.penalty, plain.constraints, plain.variable)
        r, n = block.shape
        # The column of entry (j, k) of B.
        self._place = self._form.offset + np.arange(r * n).reshape(n, r).T
        self._residuals = 0 if squared else r * n
        upper = squared or not dense_r
        self._r_entries = np.triu_indices(r) if upper else np.indices((r, r)).reshape(2, -1)
        self._assemble()
        self._solver = Updated(refined=not squared)
        self._new = "PqAb" if self._residuals or slots else "Pq"

    def _assemble(self) -> None:
        """Lay out the rows: residuals, CVXPY's equalities, cuts, then the rest of CVXPY's."""
        (r, n), size = self.block.shape, self._residuals
        count, zero = self._form.q.size, self._form.dims.zero
        i, j = self._r_entries
        row = size + zero
        cut_rows = []
        for slot in self.slots:
            cut_rows.append(row + slot.rows)
            row += slot.count
        cuts = row - size - zero
        moved = self._form.A.row + np.where(self._form.A.row < zero, size, size + cuts)
        residual = np.arange(size)
        rows = [*cut_rows, residual, moved]
        columns = [self._place.ravel()[slot.columns] for slot in self.slots]
        columns += [count + residual, self._form.A.col]
        if size:
            rows.insert(0, (np.arange(n)[:, None] * r + i).ravel())
            columns.insert(0, self._place[j].T.ravel())
        fixed = size + self._form.A.data.size
        self._free = sum(map(len, rows)) - fixed  # leading entries that change
        self._entries = np.concatenate([np.ones(self._free + size), self._form.A.data])
        order = np.arange(1, self._entries.size + 1, dtype=float)
        shape = (size + cuts + self._form.b.size, count + size)
        places = np.concatenate(rows), np.concatenate(columns)
        self._A = sp.csc_array(sp.coo_array((order, places), shape=shape))
        self._order = self._A.data.astype(np.intp) - 1
        dims = copy.copy(self._form.dims)
        dims.zero, dims.nonneg = zero + size, dims.nonneg + cuts
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
        n, D = self.block.shape[1], reduced.D / data_unit
        R = np.broadcast_to(reduced.R, (n, *reduced.R.shape[-2:])) * (unit / data_unit)
        b = self._write_rows(R, D, cuts, unit)
        penalty = unit / data_unit**2
        P, q = self._objective(R, D, penalty, unit)
        if linear is not None:
            q[self._form.offset : self._form.offset + linear.size] += penalty * linear.T.ravel()
        x, record = self._solver.solve(P, q, self._A, b, self._cones, self._new)
        if x is None:
            return None, record
        B = x[self._place]
        return np.ascontiguousarray(unit * B), record

    def _write_rows(self, R: Array, D: Array, cuts: Sequence[Cut], unit: float) -> Array:
        """Write R and the cuts into A, and return the right-hand sides."""
        pairs = list(zip(self.slots, cuts, strict=True))
        changed = [-cut.entries(slot.rows, slot.columns) for slot, cut in pairs]
        residuals: Array = np.zeros(0)
        if self._residuals:
            changed.insert(0, R[:, *self._r_entries].ravel())
            residuals = D.T.ravel()
        self._entries[: self._free] = np.concatenate([*changed, np.zeros(0)])
        self._A.data[:] = self._entries[self._order]
        # A cut that is not active reads 0 ≤ 1, which keeps the interior non-empty.
        slack = np.concatenate([_slack(slot, cut, unit) for slot, cut in pairs] or [np.zeros(0)])
        zero = self._form.dims.zero
        return np.concatenate([residuals, self._form.b[:zero], slack, self._form.b[zero:]])

    def _objective(self, R: Array, D: Array, penalty: float, unit: float) -> tuple[Any, Array]:
        """Return the upper half of P, and q, in these units."""
        size, form = self._residuals, self._form
        q = np.concatenate([penalty * form.q, np.zeros(size)])
        rows, columns, entries = form.P.row, form.P.col, penalty * unit * form.P.data
        if size:
            z = form.q.size + np.arange(size)
            added, own = (z, z), np.full(size, 2.0)
        else:
            i, j = self._r_entries
            added = self._place[i].ravel(), self._place[j].ravel()
            own = 2 * (R.swapaxes(1, 2) @ R)[:, i, j].T.ravel()
            q[self._place] -= 2 * np.einsum("kij,ik->jk", R, D)
        places = np.concatenate([rows, added[0]]), np.concatenate([columns, added[1]])
        P = sp.coo_array((np.concatenate([entries, own]), places), shape=(q.size, q.size))
        return sp.csc_array(P), q


def _slack(slot: Slot, cut: Cut, unit: float) -> Array:
    if cut.halfspaces.count < slot.count:
        return np.ones(slot.count)  # no cut at all
    return np.where(cut.active, -cut.offsets() / unit, 1.0)
