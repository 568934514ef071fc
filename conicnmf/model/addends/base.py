"""What every addend of an objective offers to the blocks of the variables it mentions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, TypeAlias

import cvxpy as cp

from conicnmf.model.digest import Digest, part
from conicnmf.model.terms import Quadratic, Reduced, Separable
from conicnmf.types import Array, Data, Factors

Kind: TypeAlias = Literal["quadratic", "weighted", "separable", "scored"]
"""The kinds of majorizers: a quadratic of the variable, weighted squares of the residuals, or a sum
over the variable's entries. Scored squares touch an addend too, but need not lie above it."""


class View(ABC):
    """An addend as a function of one variable, the others held.

    B has a component in each row. What a view can do besides `value` the addend knows.
    """

    @abstractmethod
    def value(self, B: Array) -> float:
        """Return the addend at B."""

    @property
    def at_zero(self) -> float:
        """The addend at B = 0."""
        raise TypeError(f"{self} has no value at zero")

    def gradient(self, B: Array) -> Array:
        """Return the gradient with respect to B."""
        raise TypeError(f"{self} has no gradient")

    def quadratic(self) -> Quadratic:
        """Return the addend as ½⟨B, G B⟩ − ⟨C, B⟩ + constant."""
        raise TypeError(f"{self} has no quadratic form")

    def vectorized(self) -> Quadratic:
        """Return the quadratic in all entries of B, row after row, as one column."""
        raise TypeError(f"{self} has no quadratic form")

    def grams(self, columns: slice) -> Quadratic:
        """Return the quadratic of some columns of B, with a matrix for each, zero at zero."""
        raise TypeError(f"{self} has no Gram matrices")

    def poisson(self) -> tuple[Data, Data]:
        """Return (N, M) of Σ M ∘ (A X) − Σ N ∘ log(A X), with A and X from `sides`."""
        raise TypeError(f"{self} is not a divergence of counts")

    def sides(self, B: Array) -> tuple[Array, Array]:
        """Return (A, X) whose product is the model; X has the rows of B first, then held ones."""
        raise TypeError(f"{self} is not a product")

    def reduced(self) -> Reduced:
        """Return the addend as a least-squares problem of the size of B."""
        raise TypeError(f"{self} has no reduced form")

    def ratio(self, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, where all that is held is non-negative."""
        raise TypeError(f"{self} has no ratio form")

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the addend as a CVXPY expression, convex in B."""
        raise TypeError(f"{self} has no expression")

    def separable(self) -> Separable:
        """Return the addend as a sum over the entries of B ≥ 0, up to a constant."""
        raise TypeError(f"{self} is not a sum over entries")

    def majorized(self, B: Array, kind: Kind) -> View:
        """Return a majorizer of this kind that touches the addend at B."""
        raise TypeError(f"{self} has no {kind} majorizer")

    @property
    def curvature(self) -> float:
        """A bound on the curvature of a squared loss in B, for a first step along the gradient."""
        return 0.0


class Addend(ABC):
    """A part of the objective that mentions one or more variables."""

    name: str

    @property
    def cap(self) -> float:
        """The most that the addend may be."""
        return float("inf")

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which they stand."""

    @abstractmethod
    def value(self, factors: Factors) -> float:
        """Return the addend."""

    def restated(self, factors: Factors) -> float:
        """Return the same by another route, where there is one."""
        return self.value(factors)

    @property
    @abstractmethod
    def zero(self) -> float:
        """The addend where all variables are zero: what its rounding is relative to."""

    @abstractmethod
    def abilities(self, name: str) -> frozenset[str]:
        """Return the names of the forms that the views of a variable have."""

    def majorizers(self, name: str, kind: Kind) -> frozenset[str]:
        """Return the forms that majorizers of this kind have, none where there are no such."""
        return frozenset()

    @abstractmethod
    def view(self, name: str, flipped: bool, factors: Factors) -> View:
        """Return the addend as a function of one variable; `flipped` when B is its transpose."""

    @abstractmethod
    def stated(self, values: dict[str, Any]) -> cp.Expression:
        """Return the addend as a CVXPY expression of all variables, for a non-linear solver."""

    def digest(self) -> Digest:
        """Return what was stated here, part by part."""
        return {self.name: part(self)}

    def squares(self, factors: Factors) -> tuple[float, float] | None:
        """Return ‖V − model‖² and ‖V‖² over what is observed, nothing where there is no data."""
        return None
