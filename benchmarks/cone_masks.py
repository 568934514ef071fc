"""The cone path for data with missing entries: as frozen as `cone_path`, and as generous.

Each column of a factor sees other entries of the data, so each has squares of its own, reduced by
Cholesky factors of its Gram matrix. One program holds all columns; its matrix changes in every step,
so it is built again with constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from benchmarks.cone_path import ConePath, Matrix, Program, Squares, Values


@dataclass(frozen=True, eq=False)
class MaskedSquares(Squares):
    """‖M ∘ (V − W H)‖² of one product of two variables; M holds zeros and ones, dense or sparse."""

    M: Any = None

    def value(self, values: Any) -> float:
        """Return the loss over the observed entries."""
        W, H = (values[X] for X in self.products[0])
        if sp.issparse(self.M):
            seen = self.M.tocoo()
            rest = sp.csr_array(self.V)[seen.row, seen.col]
            rest = np.ravel(rest) - np.einsum("ij,ij->i", W[seen.row], H.T[seen.col])
        else:
            rest = np.where(self.M, self.V - W @ H, 0.0)
        return float(np.vdot(rest, rest))

    def columns(self, X: cp.Variable, values: Values) -> tuple[Any, Any, Matrix, bool]:
        """Return M, V and A of the loss ‖M ∘ (V − A X)‖², and whether X had to be turned."""
        W, H = self.products[0]
        if X is H:
            return self.M, self.V, values[W], False
        return self.M.T, self.V.T, values[H].T, True


class MaskedConePath(ConePath):
    """Alternate over the two factors of masked squares."""

    def _program(self, X: cp.Variable, values: Values) -> Program:
        own = [c for c in self.constraints if any(v is X for v in c.variables())]
        addends = sum(a for a in self.rest if any(v is X for v in a.variables()))
        (loss,) = self.squares

        def solved(values: Values) -> Matrix:
            R, D, turned = _reduced(loss, X, values)
            x = cp.vec(X, order="C" if turned else "F")
            cp.Problem(cp.Minimize(cp.sum_squares(D - R @ x) + addends), own).solve(self.backend)
            if X.value is None:
                raise RuntimeError(f"{self.backend} found no {X.name()}")
            return np.maximum(X.value, 0.0) if X.is_nonneg() else np.array(X.value)

        return solved


def _reduced(loss: Any, X: cp.Variable, values: Values) -> tuple[Any, Matrix, bool]:
    """Return the reduced matrices of all columns as one, and the reduced data."""
    M, V, A, turned = loss.columns(X, values)
    rank = A.shape[1]
    first, second = np.triu_indices(rank)
    packed = np.asarray(M.T @ (A[:, first] * A[:, second]), dtype=float)
    G = np.empty((len(packed), rank, rank))
    G[:, first, second] = G[:, second, first] = packed
    # A ridge that nothing sees: with few observed entries a matrix is singular.
    G += 1e-10 * np.trace(G, axis1=1, axis2=2).mean() * np.eye(rank)
    L = np.linalg.cholesky(G)
    C = np.asarray((M * V).T @ A)
    D = np.linalg.solve(L, C[:, :, None]).ravel()
    return sp.block_diag(list(L.transpose(0, 2, 1)), format="csc"), D, turned
