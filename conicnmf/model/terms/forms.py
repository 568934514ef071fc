"""The forms in which a loss may be seen as a function of one factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½⟨B, G B⟩ − ⟨C, B⟩ + constant, the loss as a function of one factor.

    G is (r, r), or (n, r, r) where each column of B has its own.
    """

    G: Array
    C: Array
    constant: float

    def value(self, B: Array) -> float:
        """Evaluate the quadratic without touching the data."""
        # The three nearly cancel where the fit is good, so single precision adds in double.
        linear = np.einsum("ij,ij->", self.C, B, dtype=np.float64)
        if self.G.ndim == 3:
            product = (self.G @ B.T[:, :, None])[:, :, 0]
            bent = np.einsum("ki,ik->", product, B, dtype=np.float64)
        else:
            bent = np.einsum("ij,ij->", self.G, B @ B.T, dtype=np.float64)
        return float(0.5 * bent - linear + self.constant)

    @classmethod
    def touching(cls, value: float, gradient: Array, G: Array, B: Array) -> Quadratic:
        """Return the quadratic of curvature G with this value and gradient at B.

        Examples
        --------
        >>> B = np.ones((1, 2))
        >>> Quadratic.touching(3.0, -B, np.eye(1), B).value(2 * B)
        2.0
        """
        C = G @ B - gradient
        bent = 0.5 * np.einsum("ij,ij->", G, B @ B.T) - np.einsum("ij,ij->", C, B)
        return cls(G, C, value - float(bent))

    def reduced(self) -> Reduced:
        """Return the same as least squares; G may be a stack with a matrix for each column."""
        # Components of one length first: next to a long one the others would be lost to rounding.
        lengths = np.sqrt(np.diagonal(self.G, axis1=-2, axis2=-1))
        lengths = np.where(lengths > 0, lengths, 1.0)
        even = self.G / (lengths[..., :, None] * lengths[..., None, :])
        # Eigenvectors rather than Cholesky: a column with few observed entries is singular.
        values, vectors = np.linalg.eigh(0.5 * even)
        floor = values[..., -1:] * self.G.shape[-1] * np.finfo(values.dtype).eps
        roots = np.sqrt(np.where(values > floor, values, 0.0))
        along = "ij,ik->jk" if self.G.ndim == 2 else "kij,ik->jk"
        target = 0.5 * self.C / np.atleast_2d(lengths).T
        seen, size = np.einsum(along, vectors, target), np.atleast_2d(roots).T
        D = np.divide(seen, size, out=np.zeros_like(seen), where=size > 0)
        R = roots[..., None] * vectors.swapaxes(-1, -2) * lengths[..., None, :]
        constant = self.constant - float(np.sum(D**2))
        # One R for all columns is triangular, as compiled programs store it.
        return _triangular(R, D, constant) if self.G.ndim == 2 else Reduced(R, D, constant)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The loss as ‖D − R B‖² + constant; R is (r, r), or (n, r, r) when columns differ."""

    R: Array
    D: Array
    constant: float

    def value(self, B: Array) -> float:
        """Return ‖D − R B‖² + constant."""
        model = self.R @ B if self.R.ndim == 2 else np.einsum("kij,jk->ik", self.R, B)
        return float(np.sum((self.D - model) ** 2)) + self.constant

    def residual(self, B: cp.Expression) -> cp.Expression:
        """Return D − R B as an expression."""
        return residual_of(B, **self.parts())

    def parts(self) -> dict[str, Array]:
        """Return D and R as `residual_of` takes them, a part for each column of a stack."""
        if self.R.ndim == 2:
            return {"D": self.D, "R": self.R}
        return {"D": self.D} | {f"R{j}": self.R[:, :, j].T for j in range(self.R.shape[2])}

    def with_signs(self, S: Array) -> Reduced:
        """Return the loss of S ∘ M as a function of M."""
        return Reduced(self.R * S.T[:, None, :], self.D, self.constant)

    def with_held(self, rows: Array) -> Reduced:
        """Return the loss as a function of the first rows of B, the last being held at these."""
        free = self.R.shape[-1] - len(rows)
        own, other = self.R[..., :free], self.R[..., free:]
        known = other @ rows if other.ndim == 2 else np.einsum("kij,jk->ik", other, rows)
        return _triangular(own, self.D - known, self.constant)

    @staticmethod
    def added(parts: Sequence[Reduced]) -> Reduced:
        """Return the sum of several losses of the same B."""
        if len(parts) == 1:
            return parts[0]
        columns = parts[0].D.shape[1]
        deep = any(part.R.ndim == 3 for part in parts)
        Rs = [
            np.broadcast_to(part.R, (columns, *part.R.shape[-2:])) if deep else part.R
            for part in parts
        ]
        R, D = np.concatenate(Rs, axis=-2), np.concatenate([part.D for part in parts])
        return _triangular(R, D, sum(part.constant for part in parts))


def residual_of(B: cp.Expression, D: Any, R: Any = None, **columns: Any) -> cp.Expression:
    """Return D − R B from the parts of a `Reduced`, or from parameters in their place."""
    if R is not None:
        return D - R @ B
    # One R for each column: R_k b_k is the sum over j of column j of R_k times B_jk.
    rows = (cp.vstack([B[j, :]] * D.shape[0]) for j in range(len(columns)))
    return D - sum(cp.multiply(own, row) for own, row in zip(columns.values(), rows, strict=True))


def _triangular(R: Array, D: Array, constant: float) -> Reduced:
    """Return ‖D − R B‖² + constant for a tall R with the square R of its QR factorization."""
    Q, square = np.linalg.qr(R)
    missing = max(0, square.shape[-1] - square.shape[-2])
    target = Q.T @ D if Q.ndim == 2 else np.einsum("kij,ik->jk", Q, D)
    lost = max(0.0, float(np.sum(D**2) - np.sum(target**2)))
    padding = [(0, 0)] * (square.ndim - 2) + [(0, missing), (0, 0)]
    return Reduced(np.pad(square, padding), np.pad(target, ((0, missing), (0, 0))), constant + lost)
