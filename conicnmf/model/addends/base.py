"""What every addend of an objective offers to the blocks of the variables it mentions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import cvxpy as cp

from conicnmf.model.digest import Digest, part
from conicnmf.model.terms import Quadratic, Reduced
from conicnmf.types import Array, Factors


class View(ABC):
    """An addend as a function of one variable, the others held.

    B has a component in each row. What a view can do besides `value` is in `abilities`.
    """

    @property
    @abstractmethod
    def abilities(self) -> frozenset[str]:
        """Names of the forms below that exist for this view."""

    @abstractmethod
    def value(self, B: Array) -> float:
        """Return the addend at B."""

    def gradient(self, B: Array) -> Array:
        """Return the gradient with respect to B."""
        raise TypeError(f"{self} has no gradient")

    def quadratic(self) -> Quadratic:
        """Return the addend as ½⟨B, G B⟩ − ⟨C, B⟩ + constant."""
        raise TypeError(f"{self} has no quadratic form")

    def vectorized(self) -> Quadratic:
        """Return the quadratic in all entries of B, row after row, as one column."""
        raise TypeError(f"{self} has no quadratic form")

    def reduced(self) -> Reduced:
        """Return the addend as a least-squares problem of the size of B."""
        raise TypeError(f"{self} has no reduced form")

    def ratio(self, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, where all that is held is non-negative."""
        raise TypeError(f"{self} has no ratio form")

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the addend as a CVXPY expression, convex in B."""
        raise TypeError(f"{self} has no expression")

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
        """Return what the views of a variable can do."""

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
