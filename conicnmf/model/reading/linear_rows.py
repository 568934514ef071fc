"""Linear constraints as the rows CVXPY lowers them to, where spelling no longer matters."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InfeasibleError
from conicnmf.model.reading.naming import shown
from conicnmf.types import Array, Data, Mask


@dataclass(frozen=True, eq=False)
class Lowered:
    """Rows A x = b (where `equal`) or A x ≤ b over x = vec(X), the columns of X stacked."""

    A: Data
    b: Array
    equal: Mask

    @property
    def single(self) -> bool:
        """Whether every row concerns one entry."""
        return bool((np.diff(self.A.indptr) == 1).all())


def lower(constraint: cp.Constraint, variable: cp.Variable) -> Lowered | None:
    """Return the constraint as linear rows, or nothing when it does not come down to such.

    Examples
    --------
    >>> import cvxpy as cp
    >>> X = cp.Variable((2, 1))
    >>> rows = lower(0 <= 3 - X, X)
    >>> rows.A.toarray().tolist(), rows.b.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [3.0, 3.0])
    """
    if not all(argument.is_pwl() for argument in constraint.args):
        return None
    bare = cp.Variable(variable.shape)  # attributes would change the columns
    copy = constraint.tree_copy({id(variable): bare})
    data = cp.Problem(cp.Minimize(0), [copy]).get_problem_data("CLARABEL", solver_opts={})[0]
    dims = data["dims"]
    A, b = sp.csr_array(data["A"]), np.asarray(data["b"])
    if A.shape[0] != dims.zero + dims.nonneg or bare.id not in data["param_prob"].var_id_to_col:
        return None
    begin = data["param_prob"].var_id_to_col[bare.id]
    own = np.arange(begin, begin + bare.size)
    helpers = np.setdiff1d(np.arange(A.shape[1]), own)
    if helpers.size:
        A, b = _without(helpers, A, b) if dims.zero == 0 else (A, b)
        if A[:, helpers].nnz:
            return None
    rows = sp.csr_array(A[:, own])
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return _without_empty(Lowered(rows, b, np.arange(rows.shape[0]) < dims.zero), constraint)


def _without_empty(rows: Lowered, constraint: cp.Constraint) -> Lowered:
    """Leave out rows without entries: they read 0 ≤ b or 0 = b, which holds or cannot hold."""
    empty = np.diff(rows.A.indptr) == 0
    broken = empty & np.where(rows.equal, rows.b != 0, rows.b < 0)
    if broken.any():
        raise InfeasibleError(
            f"constraint {shown(constraint)} can never hold: it requires "
            f"0 {'==' if rows.equal[broken][0] else '<='} {rows.b[broken][0]:g}; drop or correct it"
        )
    return Lowered(rows.A[~empty], rows.b[~empty], rows.equal[~empty])


def _without(helpers: Array, A: Data, b: Array) -> tuple[Data, Array]:
    """Eliminate the variables CVXPY adds for maxima and magnitudes, where that is simple.

    t ≤ u and a(x) ≤ t hold for some t if and only if a(x) ≤ u: a helper with one row that bounds
    it from above, alone in that row, goes into all the rows that bound it from below.
    """
    for _ in range(helpers.size):
        T = sp.csr_array(A[:, helpers])
        T.eliminate_zeros()
        above = sp.csc_array((T > 0).astype(int))
        alone = np.diff(T.indptr) == 1
        once = np.flatnonzero(np.diff(above.indptr) == 1)
        last = above.indices[above.indptr[once]]
        last = last[alone[last]]  # the rows t ≤ u
        if not last.size:
            break
        pivots = sp.csr_array(T[last])
        scales = sp.diags_array(1 / pivots.data, format="csr")
        lower = np.setdiff1d(np.arange(A.shape[0]), last)
        # How much of each row t ≤ u goes into each of the others.
        shares = -T[lower][:, pivots.indices] @ scales
        stays = np.ones(A.shape[1])
        stays[helpers[pivots.indices]] = 0.0
        A = sp.csr_array((A[lower] + shares @ A[last]) @ sp.diags_array(stays, format="csr"))
        b = b[lower] + shares @ b[last]
    return A, b
