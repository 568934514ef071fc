"""Majorizers of a fit at a point: simple functions of one variable that lie above it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import cvxpy as cp
import numpy as np

from conicnmf.model.addends.base import View
from conicnmf.model.terms import Quadratic, Reduced, Separable
from conicnmf.types import Array

if TYPE_CHECKING:
    from conicnmf.model.addends.fit_view import FitView

QUADRATIC = frozenset({"gradient", "expression", "quadratic", "vectorized", "reduced"})
WEIGHTED = frozenset({"gradient", "expression", "reduced", "grams"})
SEPARABLE = frozenset({"gradient", "expression", "separable"})


@dataclass(eq=False)
class QuadraticView(View):
    """A quadratic of what stands in the variable's place in a fit."""

    fit: FitView
    whole: Quadratic

    def value(self, B: Array) -> float:
        """Return the quadratic at B."""
        return self.whole.value(self.fit.right(B))

    def gradient(self, B: Array) -> Array:
        """Return the gradient in B."""
        return self.fit.own(self.whole.G @ self.fit.right(B) - self.whole.C)

    def quadratic(self) -> Quadratic:
        """Return the quadratic of B."""
        return self.fit.of_free_rows(self.whole)

    def vectorized(self) -> Quadratic:
        """Return the quadratic of the entries of B as one column."""
        return self.fit.as_column(self.whole)

    def reduced(self) -> Reduced:
        """Return the least-squares form of B."""
        return self.fit.of_free(self.whole.reduced())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the least squares of B for CVXPY."""
        return self.fit.squares(self.whole.reduced(), B)

    @property
    def curvature(self) -> float:
        """The curvature of the squares that the fit compares."""
        return self.fit.curvature


@dataclass(eq=False)
class PenaltyView(View):
    """A quadratic of B itself, which stands for a penalty."""

    whole: Quadratic

    def value(self, B: Array) -> float:
        """Return the quadratic at B."""
        return self.whole.value(B)

    def gradient(self, B: Array) -> Array:
        """Return the gradient in B."""
        return np.asarray(self.whole.G @ B - self.whole.C)

    def quadratic(self) -> Quadratic:
        """Return the quadratic."""
        return self.whole

    def vectorized(self) -> Quadratic:
        """Return the quadratic of the entries of B as one column."""
        G, C = self.whole.G, self.whole.C
        column = np.kron(G, np.eye(C.shape[1], dtype=G.dtype))
        return Quadratic(column, C.reshape(-1, 1), self.whole.constant)

    def reduced(self) -> Reduced:
        """Return the least-squares form."""
        return self.whole.reduced()

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the least squares for CVXPY."""
        reduced = self.whole.reduced()
        return cp.sum_squares(reduced.residual(B)) + reduced.constant

    @property
    def curvature(self) -> float:
        """The largest curvature."""
        return float(np.linalg.eigvalsh(self.whole.G)[-1])


@dataclass(eq=False)
class SeparableView(View):
    """A sum over the entries of B ≥ 0 that touches a fit at the sum's base."""

    fit: View
    sum: Separable

    @cached_property
    def _touched(self) -> float:
        """The fit where it is touched: a pass over the data that many steps can do without."""
        return self.fit.value(self.sum.base)

    def value(self, B: Array) -> float:
        """Return the bound at B."""
        return self._touched + self.sum.value(B)

    def gradient(self, B: Array) -> Array:
        """Return the slopes."""
        return self.sum.gradient(B)

    def separable(self) -> Separable:
        """Return the sum."""
        return self.sum

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the bound for CVXPY."""
        return self._touched + self.sum.expression(B)
