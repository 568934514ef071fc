"""Any loss of W @ H that is convex in each factor, kept as the user's CVXPY expression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp

from conicnmf.model.terms import Loss
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False, repr=False)
class Biconvex(Loss):
    """A CVXPY expression over the variables `left` (holds A) and `right` (holds B).

    `left_transposed` says that the user's variable is the transpose of the block's A, and
    likewise for `right`. The cone solver sees the expression as it was written.
    """

    form: cp.Expression
    left: cp.Variable
    right: cp.Variable
    left_transposed: bool = False
    right_transposed: bool = False

    def __repr__(self) -> str:
        return f"Biconvex({self.form})"

    def transposed(self) -> Biconvex:
        """Swap the roles of the factors."""
        return replace(
            self,
            left=self.right,
            right=self.left,
            left_transposed=not self.right_transposed,
            right_transposed=not self.left_transposed,
        )

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Evaluate the user's expression."""
        return float(self.expression(Y, cp.Constant(A), cp.Constant(B)).value)

    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Put A and B in the places of the user's variables."""
        A = A.T if self.left_transposed else A
        B = B.T if self.right_transposed else B
        A, B = (cp.Constant(X) if not isinstance(X, cp.Expression) else X for X in (A, B))
        return self.form.tree_copy({id(self.left): A, id(self.right): B})
