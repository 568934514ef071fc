"""Half-spaces on chosen pieces of a factor, as constraints of a convex program."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from conicnmf.model.terms import Each, Halfspaces
from conicnmf.types import Array, Mask


@dataclass(frozen=True, eq=False)
class Cut:
    """The half-spaces of which `active` is true."""

    halfspaces: Halfspaces
    active: Mask

    @classmethod
    def none(cls, shape: tuple[int, int], each: Each) -> Cut:
        """Return a cut that binds no piece."""
        if each == "factor":
            return cls(
                Halfspaces(np.zeros((0, shape[0] * shape[1])), each), np.zeros(0, dtype=bool)
            )
        count = shape[0] if each == "component" else shape[1]
        return cls(Halfspaces(np.zeros(shape), each), np.zeros(count, dtype=bool))

    def normals(self) -> Array:
        """Return the normals, zero where the cut is not active."""
        normals: Array = self.halfspaces.where(self.active).normals
        return normals

    def entries(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Array:
        """Return chosen entries of the normals, seen as a row over B's entries for each half-space."""
        if self.halfspaces.each != "factor":
            return np.asarray(self.normals().ravel()[columns])
        if not (self.halfspaces.count and rows.size):  # of no entries SciPy returns one
            return np.zeros(rows.size)
        return np.asarray(sp.csr_array(self.normals())[rows, columns]).ravel()

    def offsets(self) -> Array:
        """Return the offset of each half-space, zero where the cut is not active."""
        return np.where(self.active, self.halfspaces.levels, 0.0)

    def constraints(
        self, B: cp.Expression, slack: cp.Expression | float = 0.0
    ) -> list[cp.Constraint]:
        """Return the active half-spaces on B, each short of its offset by at most the slack."""
        if not self.active.any():
            return []
        held = np.flatnonzero(self.active)
        return [self.halfspaces.products(B)[held] + slack >= self.offsets()[held]]

    def levels(self) -> Array:
        """Return the offset of each half-space, below zero where it is not active and binds nothing."""
        return np.where(self.active, self.halfspaces.levels, -1.0)
