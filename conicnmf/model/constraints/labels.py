"""Class labels as cones round the class means of the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.model.terms import Constraint, Example
from conicnmf.settings import Positive, Reads
from conicnmf.types import Array
from conicnmf.validate import as_labels


@dataclass(frozen=True, eq=False)
class Labels(Constraint):
    """Samples of one class have similar coefficients: ‖μ − h‖₂ ≤ radius · ‖μ‖₁.

    Here h is the column of H of a sample and μ the mean of the columns of its class, which is
    part of the problem. For H ≥ 0 the bound is a second-order cone that links all samples of a
    class.

    Parameters
    ----------
    y : array of int
        A label for each sample; negative for samples without one.
    radius : float
        How far samples may be from their mean, relative to its sum; smaller is stricter.

    Examples
    --------
    >>> import numpy as np
    >>> Labels([0, 0], radius=0.1).violation(np.array([[1.0, 1.0], [1.0, 1.2]])).round(3)
    array([0., 0.])
    """

    y: Annotated[Any, Reads(as_labels)]
    radius: Positive
    orthant_only: ClassVar[bool] = True
    scale_free: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"Labels({len(np.unique(self.y[self.y >= 0]))} classes, radius={self.radius:g})"

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise unless there is a label for each sample."""
        if len(self.y) != shape[1]:
            raise InputError(
                f"Labels needs a label for each of the {shape[1]} samples, got {len(self.y)}; "
                "it is a constraint on H, and a negative label means unlabeled"
            )

    def _means(self) -> tuple[Array, NDArray[np.intp]]:
        """Return the averaging matrix (samples × labeled samples) and the labeled samples."""
        labeled = np.flatnonzero(self.y >= 0)
        same = self.y[:, None] == self.y[None, labeled]
        return same / same.sum(axis=0), labeled

    def violation(self, B: Array) -> Array:
        """Return each labeled sample's excess over the radius, relative to its class mean."""
        average, labeled = self._means()
        means = B @ average
        sums = means.sum(axis=0)
        excess = np.linalg.norm(B[:, labeled] - means, axis=0) - self.radius * sums
        scale = np.where(sums > 0, sums, 1.0)
        return np.asarray(np.maximum(excess, 0.0) / scale)

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return one second-order cone for each labeled sample."""
        average, labeled = self._means()
        if not labeled.size:
            return []
        means = B @ average
        return [cp.SOC(self.radius * cp.sum(means, axis=0), B[:, labeled] - means, axis=0)]

    def scaled(self, c: float) -> Labels:
        """Return the same set, which is a cone."""
        return self

    @classmethod
    def examples(cls) -> list[Example]:
        """Return two classes, one of them spread too far."""
        inside = np.array([[1.0, 1.1, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        outside = np.array([[1.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
        return [Example(cls([0, 0, 1, 1], radius=0.2), inside, outside)]
