"""Group lasso: given groups of entries in a component become zero together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.geometry.groups import group_norms, shrink_groups
from conicnmf.model.terms import Pieces, Weighted, along, by_rows, pieces
from conicnmf.settings import Reads
from conicnmf.types import Array
from conicnmf.validate import as_array


def _as_groups(given: Any, name: str) -> NDArray[np.intp]:
    labels = as_array(given, name)
    if labels.ndim != 1 or labels.size == 0 or labels.dtype.kind not in "iuU":
        raise InputError(
            f"{name} must be one label for each entry of a component, whole numbers or names, got "
            f"dtype {labels.dtype}, shape {labels.shape}; try np.repeat([0, 1], 5)"
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class GroupLasso(Weighted):
    """The penalty weight · Σ‖b_g‖₂ over the components b and the groups g of their entries.

    Parameters
    ----------
    weight : float
    groups : array of int or str
        The group of each entry of a component: of each feature on W, of each sample on H.
    each : {"component", "sample"}

    Examples
    --------
    >>> GroupLasso(0.5, [0, 0, 1]).value(np.array([[3.0, 4.0, -1.0]]))
    3.0
    """

    groups: Annotated[Any, Reads(_as_groups)]
    each: Pieces = "component"
    sign_free: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"GroupLasso(weight={self.weight:g}, {self._count} groups, each={self.each!r})"

    @property
    def _count(self) -> int:
        return int(self.groups.max()) + 1

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise unless every entry of a piece has a group."""
        if shape[along(self.each)] != self.groups.size:
            raise InputError(
                f"GroupLasso has labels for {self.groups.size} entries, and each {self.each} has "
                f"{shape[along(self.each)]}; give one label for each feature or sample"
            )

    def value(self, B: Array) -> float:
        """Return the weighted sum of the norms of all groups."""
        rows = pieces(B, self.each)
        return self.weight * float(group_norms(rows, self.groups, self._count).sum())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        rows = B if self.each == "component" else B.T
        own = (rows[:, self.groups == g] for g in range(self._count))
        return self.weight * sum(cp.sum(cp.norm(part, 2, axis=1)) for part in own)

    def prox(self, B: Array, step: float) -> Array:
        """Make each group shorter, or zero."""
        weight = step * self.weight
        return by_rows(lambda rows: shrink_groups(rows, weight, self.groups), B, self.each)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Set negative entries to zero first: they would only make their group longer."""
        return self.prox(np.maximum(B, 0), step)

    def scaled(self, c: float) -> GroupLasso:
        """Divide the weight by c."""
        return self.times(1 / c)
