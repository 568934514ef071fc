"""Losses, and the forms in which a loss may be seen as a function of one factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.terms.base import Term, optional
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½⟨B, G B⟩ − ⟨C, B⟩ + constant, the loss as a function of one factor."""

    G: Array
    C: Array
    constant: float

    def value(self, B: Array) -> float:
        """Evaluate the quadratic without touching the data."""
        smooth = 0.5 * np.einsum("ij,ij->", self.G, B @ B.T) - np.einsum("ij,ij->", self.C, B)
        return float(smooth + self.constant)


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

    def with_signs(self, S: Array) -> Reduced:
        """Return the loss of S ∘ M as a function of the magnitudes M."""
        return Reduced(self.R * S.T[:, None, :], self.D, self.constant)


class Loss(Term):
    """How far A B is from the data Y; it may be asked to stay at or below `cap`."""

    cap: float = np.inf

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss."""
        raise self._lacks("value")

    @optional
    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return the gradient with respect to B."""
        raise self._lacks("gradient")

    @optional
    def quadratic(self, Y: Data, A: Array) -> tuple[Array, Array]:
        """Return (G, C) with loss ½⟨B, G B⟩ − ⟨C, B⟩ + loss at B = 0."""
        raise self._lacks("quadratic")

    @optional
    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Return the loss as a least-squares problem of the size of B."""
        raise self._lacks("reduced")

    @optional
    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, for multiplicative updates."""
        raise self._lacks("ratio")

    @optional
    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the loss as a CVXPY expression, convex in B."""
        raise self._lacks("expression")
