"""Any concave CVXPY function of one factor as a penalty, linearized at the iterate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.model.curvature_parts import gradient_near
from conicnmf.model.penalties.stated import StatedPenalty
from conicnmf.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class ConcavePenalty(StatedPenalty):
    """The concave scalar that `fn` returns for a factor, such as Σ log(1 + x), or a reward −‖x‖².

    It is replaced by its tangent at the iterate. The tangent lies above the function, so a step
    that lowers the objective with the tangent also lowers the objective itself.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> few = ConcavePenalty(lambda H: cp.sum(cp.minimum(H, 1)))
    >>> few.value(np.array([[0.0, 0.5, 7.0]]))
    1.5
    >>> few.slope(np.array([[0.0, 0.5, 7.0]]))
    array([[1., 1., 0.]])
    """

    curvature: ClassVar[str] = "concave"

    def slope(self, B: Array) -> Array:
        """Return the gradient, next to B where there is none at B."""
        X = cp.Variable(B.shape)
        slopes = gradient_near(self.form(X), X, np.asarray(B, dtype=float))
        return (
            np.zeros_like(B)
            if slopes is None
            else slopes.toarray().reshape(B.shape).astype(B.dtype)
        )

    def smooth(self, B: cp.Expression) -> cp.Expression:
        """Return the user's expression."""
        return self.form(B)

    def gradient(self, B: Array) -> Array:
        """Return the same."""
        return self.slope(B)
