"""Linear constraints as the rows CVXPY lowers them to, where spelling no longer matters."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf._types import Array, Data, Mask


@dataclass(frozen=True, eq=False)
class Lowered:
    """Rows A x = b (where `equal`) or A x ≤ b over x = vec(X), the columns of X stacked."""

    A: Data
    b: Array
    equal: Mask

    @property
    def single(self) -> bool:
        """Whether every row speaks of one entry."""
        return bool((np.diff(self.A.indptr) == 1).all())


def lower(constraint: cp.Constraint, variable: cp.Variable) -> Lowered | None:
    """Return the constraint as linear rows, or nothing when it is not linear.

    Examples
    --------
    >>> import cvxpy as cp
    >>> X = cp.Variable((2, 1))
    >>> rows = lower(0 <= 3 - X, X)
    >>> rows.A.toarray().tolist(), rows.b.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [3.0, 3.0])
    """
    if not all(argument.is_affine() for argument in constraint.args):
        return None
    bare = cp.Variable(variable.shape)  # attributes would change the columns
    copy = constraint.tree_copy({id(variable): bare})
    data = cp.Problem(cp.Minimize(0), [copy]).get_problem_data("CLARABEL", solver_opts={})[0]
    dims = data["dims"]
    rows = sp.csr_array(data["A"])
    if rows.shape != (dims.zero + dims.nonneg, bare.size):
        return None
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return Lowered(rows, np.asarray(data["b"]), np.arange(rows.shape[0]) < dims.zero)
