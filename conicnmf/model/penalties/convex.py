"""Any convex CVXPY function of one factor as a penalty."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp

from conicnmf.model.penalties.stated import StatedPenalty


@dataclass(frozen=True, eq=False, repr=False)
class ConvexPenalty(StatedPenalty):
    """The convex scalar that `fn` returns for a factor in its usual orientation.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> rough = ConvexPenalty(lambda H: cp.sum_squares(cp.diff(H, axis=1)))
    >>> rough.value(np.array([[0.0, 2.0, 1.0]]))
    5.0
    """

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the user's expression."""
        return self.form(B)
