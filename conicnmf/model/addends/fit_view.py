"""A fit with all variables but one held: loss(Y, A B K + L R) as a function of B.

L and R are what the other products add: rows of a longer [B; R] that are held, so every loss works
unchanged and sparse data stay sparse. K stands for what is to the right of a variable in the middle
of a product; then B is no longer a factor of its own, and the forms that treat its columns one by one
do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import cvxpy as cp
import numpy as np

from conicnmf.model.addends.base import Kind, View
from conicnmf.model.addends.majorizers import QuadraticView, SeparableView
from conicnmf.model.terms import Loss, Quadratic, Reduced, Separable
from conicnmf.types import Array, Data


@dataclass(eq=False)  # made in every step, and freezing would cost more than filling it
class FitView(View):
    """The loss of Y against (mask ∘ B), multiplied by A from the left and by K from the right."""

    loss: Loss
    Y: Data
    A: Array | None
    K: Array | None
    held: tuple[Array, Array] | None
    mask: Array | None
    zero: float

    @cached_property
    def _left(self) -> Array:
        """[A L]."""
        rows = self.Y.shape[0]
        A = np.eye(rows) if self.A is None else self.A
        return A if self.held is None else np.hstack([A, self.held[0]])

    def right(self, B: Array) -> Array:
        """Return [B K; R]."""
        B = B if self.mask is None else self.mask * B
        B = B if self.K is None else B @ self.K
        return B if self.held is None else np.vstack([B, self.held[1]])

    def own(self, X: Array) -> Array:
        """Return what a gradient in [B K; R] is in B."""
        X = X if self.held is None else X[: X.shape[0] - len(self.held[1])]
        X = X if self.K is None else X @ self.K.T
        return X if self.mask is None else self.mask * X

    def value(self, B: Array) -> float:
        """Return the loss."""
        return self.loss.value(self.Y, self._left, self.right(B))

    def gradient(self, B: Array) -> Array:
        """Return the gradient in B."""
        return self.own(self.loss.gradient(self.Y, self._left, self.right(B)))

    def ratio(self, B: Array) -> tuple[Array, Array]:
        """Return the two parts of the gradient."""
        down, up = self.loss.ratio(self.Y, self._left, self.right(B))
        return self.own(down), self.own(up)

    def majorized(self, B: Array, kind: Kind) -> View:
        """Return a majorizer that touches the loss at B; a quadratic loss is its own."""
        if kind == "separable":
            down, up = self.ratio(B)
            return SeparableView(self, Separable.of(B, down, up, self.loss.powers))
        seen = self.Y, self._left, self.right(B)
        if kind == "quadratic":
            own = "quadratic" in self.loss.abilities
            return self if own else QuadraticView(self, self.loss.majorize(*seen))
        if "reduced" in self.loss.abilities:
            return self
        squares = self.loss.score(*seen) if kind == "scored" else self.loss.reweigh(*seen)
        place = self.A, self.K, self.held, self.mask
        return ReweighedView(squares, self.Y, *place, self.zero, self.loss, seen[-1])

    @property
    def _whole(self) -> Quadratic:
        """The loss as a quadratic of [B K; R]."""
        return Quadratic(*self.loss.quadratic(self.Y, self._left), self.zero)

    def quadratic(self) -> Quadratic:
        """Return the quadratic in (mask ∘ B) K, which is B where nothing stands round it."""
        return self.of_free_rows(self._whole)

    @property
    def at_zero(self) -> float:
        """The loss of what is held alone."""
        return self.zero if self.held is None else self.loss.value(self.Y, *self.held)

    def grams(self, columns: slice) -> Quadratic:
        """Return the quadratic of some columns, from Gram matrices of their own."""
        if "quadratic" in self.loss.abilities:  # next to a fit whose columns have their own
            whole = self.quadratic()
            G, C = whole.G[None], whole.C[:, columns]
        else:
            G, C = self.loss.grams(self.Y, self._left, columns)
            if self.held is not None:
                R = self.held[1][:, columns]
                free = len(C) - len(R)
                C = C[:free] - np.einsum("kij,jk->ik", G[:, :free, free:], R)
                G = np.ascontiguousarray(G[:, :free, :free])
        if self.mask is not None:
            mask = self.mask[:, columns]
            G, C = G * mask.T[:, :, None] * mask.T[:, None], mask * C
        return Quadratic(G, C, 0.0)

    def poisson(self) -> tuple[Data, Data]:
        """Return the weights of the logarithms, and those of the model."""
        return self.loss.poisson(self.Y)

    def sides(self, B: Array) -> tuple[Array, Array]:
        """Return [A L] and [B K; R]."""
        return self._left, self.right(B)

    def vectorized(self) -> Quadratic:
        """Return the quadratic in all entries of B as one column."""
        return self.as_column(self._whole)

    def as_column(self, whole: Quadratic) -> Quadratic:
        """Return ½⟨B, G B K Kᵀ⟩ − ⟨C Kᵀ, B⟩ with the entries of B as one column: G ⊗ K Kᵀ."""
        inner = self.of_free_rows(whole)
        K = np.eye(self.Y.shape[1], dtype=inner.C.dtype) if self.K is None else self.K
        G, C = np.kron(inner.G, K @ K.T), np.reshape(inner.C @ K.T, (-1, 1))
        if self.mask is not None:
            mask = np.reshape(self.mask, (-1, 1))
            G, C = mask * G * mask.T, mask * C
        return Quadratic(G, C, inner.constant)

    def of_free_rows(self, whole: Quadratic) -> Quadratic:
        """Return the quadratic of the rows that are not held: G_ff and C_f − G_fh B_h."""
        if self.held is None:
            return whole
        G, C, R = whole.G, whole.C, self.held[1]
        free = len(G) - len(R)
        constant = Quadratic(G[free:, free:], C[free:], whole.constant).value(R)
        return Quadratic(
            np.ascontiguousarray(G[:free, :free]), C[:free] - G[:free, free:] @ R, constant
        )

    def reduced(self) -> Reduced:
        """Return the least-squares form of the free rows."""
        return self.of_free(self.loss.reduced(self.Y, self._left))

    def of_free(self, whole: Reduced) -> Reduced:
        """Return least squares of [B; R] as those of B."""
        if self.held is not None:
            whole = whole.with_held(self.held[1])
        return whole if self.mask is None else whole.with_signs(self.mask)

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the loss of B, reduced from both sides where it is a sum of squares."""
        if "reduced" in self.loss.abilities and self.K is not None and self.held is None:
            whole = self.loss.reduced(self.Y, self._left)
            if whole.R.ndim == 2:  # else the columns of Y have weights of their own
                return self.squares(whole, B)
        return self.loss.expression(self.Y, self._left, self._stacked(B))

    def _stacked(self, B: cp.Expression) -> cp.Expression:
        """Return [B K; R] for CVXPY."""
        own = B if self.mask is None else cp.multiply(self.mask, B)
        own = own if self.K is None else own @ self.K
        return own if self.held is None else cp.vstack([own, self.held[1]])

    def squares(self, whole: Reduced, B: cp.Expression) -> cp.Expression:
        """Return least squares of [B K; R] for CVXPY, K reduced by its QR factorization too."""
        if self.K is None or self.held is not None:
            return cp.sum_squares(whole.residual(self._stacked(B))) + whole.constant
        own = B if self.mask is None else cp.multiply(self.mask, B)
        Q, S = np.linalg.qr(self.K.T)
        D = whole.D @ Q
        lost = max(0.0, float(np.sum(whole.D**2) - np.sum(D**2)))
        return cp.sum_squares(D - whole.R @ own @ S.T) + (whole.constant + lost)

    @property
    def curvature(self) -> float:
        """Twice the squared norms of what stands on both sides."""
        sides = [X for X in (self.A, self.K) if X is not None]
        return 2 * float(np.prod([np.linalg.norm(X, 2) ** 2 for X in sides]))


@dataclass(eq=False)
class ReweighedView(FitView):
    """Weighted squares that touch another loss where they were made."""

    touched: Loss
    base: Array

    @cached_property
    def offset(self) -> float:
        """By how much the squares are raised: two passes over the data that many steps do without."""
        at = self.Y, self._left, self.base
        return self.touched.value(*at) - self.loss.value(*at)

    def value(self, B: Array) -> float:
        """Return the squares, raised to where they touch."""
        return super().value(B) + self.offset

    @property
    def at_zero(self) -> float:
        """The same of what is held alone."""
        nothing = 0 * self._left[:, :1], np.zeros((1, self.Y.shape[1]))
        return self.loss.value(self.Y, *(self.held or nothing)) + self.offset

    def reduced(self) -> Reduced:
        """Return the least-squares form."""
        own = super().reduced()
        return replace(own, constant=own.constant + self.offset)

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the squares for CVXPY."""
        return super().expression(B) + self.offset
