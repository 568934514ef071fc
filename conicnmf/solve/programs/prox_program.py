"""Proximal steps of terms without a closed form, by a cone program that is compiled once.

It minimizes ½‖X − B‖² + step · penalties over constraints as CVXPY states them. Whatever the loss, it
has the size of the entries that these terms touch; all others keep to their bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones

from conicnmf.model.constraints.joint import merged_bounds
from conicnmf.model.terms import Constraint, Penalty
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.standard_form import StandardForm, Updated
from conicnmf.types import Array


class ProxProgram:
    """The nearest point to B that terms allow and like.

    Parameters
    ----------
    shape : tuple of int
        The factor's shape, components × samples.
    constraints : sequence of Constraint
        All of them convex, with a cone form.
    penalties : sequence of Penalty
        All of them with an expression.

    Examples
    --------
    >>> import conicnmf as cn
    >>> far = cn.Convex(lambda X: X[0, 0] + X[0, 1] >= 4)
    >>> near = ProxProgram((1, 3), [cn.NonNegative(), far]).solve(np.array([[1.0, 0.0, -1.0]]), 1.0)
    >>> near[0].round(6)
    array([[2.5, 1.5, 0. ]])
    """

    def __init__(
        self,
        shape: tuple[int, int],
        constraints: Sequence[Constraint],
        penalties: Sequence[Penalty] = (),
    ) -> None:
        self._bounds = merged_bounds(constraints)
        self._variable = cp.Variable(shape)
        self._penalty: Any = sum(penalty.expression(self._variable) for penalty in penalties)
        boxed = [c for c in constraints if "bounds" in c.abilities]
        shaped = [c for c in constraints if c not in boxed]
        self._constraints = [part for c in shaped for part in c.cone(self._variable)]
        form = StandardForm.of(self._penalty, self._constraints, self._variable)
        self._touched = _touched_entries(form, self._variable.size)
        self._compile(form)
        self._constraints += [part for c in boxed for part in c.cone(self._variable)]
        self._solver, self._step = Updated(), np.nan

    def _compile(self, form: StandardForm) -> None:
        """Keep the columns of the touched entries and of what CVXPY adds, touched ones first."""
        own = np.arange(form.offset, form.offset + self._variable.size)
        added = np.setdiff1d(np.arange(form.q.size), own)
        kept = np.concatenate([form.offset + self._touched, added])
        self._q = form.q[kept]
        whole = sp.csc_array(form.P)
        # The columns were put in another order, so the upper half is taken again.
        self._P = sp.csc_array(sp.triu((whole + sp.triu(whole, 1).T)[kept][:, kept]))
        near = np.zeros(kept.size)
        near[: self._touched.size] = 1.0
        self._near = sp.csc_array(sp.diags_array(near))
        self._add_bounds(form, sp.csr_array(sp.csc_array(form.A)[:, kept]))

    def _add_bounds(self, form: StandardForm, A: Any) -> None:
        """Set the rows of the terms, with those of finite bounds on the touched entries."""
        lower, upper = (
            np.broadcast_to(bound, self._variable.shape).ravel(order="F")[self._touched]
            for bound in self._bounds
        )
        fixed = lower == upper
        eye = sp.csr_array(sp.eye_array(lower.size, A.shape[1]))
        below, above = np.isfinite(lower) & ~fixed, np.isfinite(upper) & ~fixed
        dims, zero, linear = copy(form.dims), form.dims.zero, form.dims.zero + form.dims.nonneg
        parts = [A[:zero], eye[fixed], A[zero:linear], -eye[below], eye[above], A[linear:]]
        sides = [form.b[:zero], lower[fixed], form.b[zero:linear], -lower[below], upper[above]]
        self._A = sp.csc_array(sp.vstack(parts))
        self._b = np.concatenate([*sides, form.b[linear:]])
        dims.zero += int(fixed.sum())
        dims.nonneg += int(below.sum() + above.sum())
        self._cones = dims_to_solver_cones(dims)

    def solve(self, B: Array, step: float) -> tuple[Array | None, list[InnerSolve]]:
        """Return the X of least ½‖X − B‖² + step · penalties, or nothing, and what was tried."""
        if not self._touched.size:  # such as a rule between components where there is one
            return self._whole(B, np.empty(0)), []
        q = step * self._q
        q[: self._touched.size] -= B.ravel(order="F")[self._touched]
        P = self._near + step * self._P
        new = "q" if step == self._step or not self._P.nnz else "Pq"
        x, record = self._solver.solve(P, q, self._A, self._b, self._cones, new)
        self._step = step
        if x is not None and record.status == cp.OPTIMAL:
            return self._whole(B, x[: self._touched.size]), [record]
        program = cp.Problem(
            cp.Minimize(step * self._penalty + 0.5 * cp.sum_squares(self._variable - B)),
            self._constraints,
        )
        X, tried = solve_along(program, self._variable, chain(None))
        found = None if X is None else X.ravel(order="F")[self._touched]
        return None if found is None else self._whole(B, found), [record, *tried]

    def _whole(self, B: Array, touched: Array) -> Array:
        """Return B with the touched entries in place, all of it within the bounds."""
        X = np.array(B.ravel(order="F"), dtype=float)
        X[self._touched] = touched
        inside = np.clip(X.reshape(B.shape, order="F"), *self._bounds)
        return np.ascontiguousarray(inside, dtype=B.dtype)


def _touched_entries(form: StandardForm, size: int) -> Any:
    """Return the entries that the terms mention, numbered column after column."""
    own = slice(form.offset, form.offset + size)
    seen = np.abs(form.q[own])
    seen += abs(sp.csc_array(form.A)).sum(axis=0)[own]
    P = abs(sp.csc_array(form.P))
    return np.flatnonzero(seen + (P.sum(axis=0) + P.sum(axis=1))[own])
