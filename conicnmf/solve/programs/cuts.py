"""Half-spaces on chosen pieces of a factor, as constraints of a convex program."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.model.terms import Each, Halfspaces, pieces
from conicnmf.types import Array, Mask


@dataclass(frozen=True, eq=False)
class Cut:
    """The half-spaces ⟨normals_j, B_j⟩ ≥ offsets_j for the pieces j where `active` is true."""

    halfspaces: Halfspaces
    active: Mask

    @classmethod
    def none(cls, shape: tuple[int, int], each: Each) -> Cut:
        """Return a cut that binds no piece."""
        count = shape[0] if each == "component" else shape[1]
        return cls(Halfspaces(np.zeros(shape), each), np.zeros(count, dtype=bool))

    def normals(self) -> Array:
        """Return the normals in the shape of B, zero where the cut is not active."""
        rows = pieces(self.halfspaces.normals, self.halfspaces.each)
        return pieces(np.where(self.active[:, None], rows, 0.0), self.halfspaces.each)

    def offsets(self) -> Array:
        """Return the offset of each piece, zero where the cut is not active."""
        return np.where(self.active, self.halfspaces.levels, 0.0)

    def constraints(
        self, B: cp.Expression, slack: cp.Expression | float = 0.0
    ) -> list[cp.Constraint]:
        """Return the active half-spaces on B, each short of its offset by at most the slack."""
        if not self.active.any():
            return []
        axis = 1 if self.halfspaces.each == "component" else 0
        inner = cp.sum(cp.multiply(self.normals(), B), axis=axis)
        held = np.flatnonzero(self.active)
        return [inner[held] + slack >= self.offsets()[held]]

    def opposite(self) -> Cut:
        """Return the half-spaces on the other side of the same planes."""
        spaces = self.halfspaces
        return Cut(Halfspaces(-spaces.normals, spaces.each, -spaces.levels), self.active)
