"""Penalties: functions of one factor in the objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import cvxpy as cp

from conicnmf.model.terms.base import Each, Term, optional
from conicnmf.model.terms.constraint import Constraint
from conicnmf.model.terms.forms import Quadratic
from conicnmf.settings import Weight
from conicnmf.types import Array

if TYPE_CHECKING:
    from conicnmf.model.operators import Operator


class Penalty(Term):
    """A function of one factor that is added to the objective, a sum over what `each` names."""

    each: Each = "factor"
    degree: ClassVar[int] = 0
    """The power of the factor that the penalty grows with, 0 where it is no power."""

    def value(self, B: Array) -> float:
        """Return the penalty at B."""
        raise self._lacks("value")

    @optional
    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty as a convex CVXPY expression."""
        raise self._lacks("expression")

    @optional
    def smooth(self, B: cp.Expression) -> cp.Expression:
        """Return a penalty that is not convex as a CVXPY expression, for a non-linear solver."""
        raise self._lacks("smooth")

    @optional
    def gradient(self, B: Array) -> Array:
        """Return the gradient, on the non-negative orthant where the penalty is not smooth."""
        raise self._lacks("gradient")

    @optional
    def orthant(self) -> tuple[float, float]:
        """Return (slope, curvature) with value = Σ slope·b + ½ curvature·b² for B ≥ 0."""
        raise self._lacks("orthant")

    @optional
    def ties(self, length: int) -> Array:
        """Return K in bands, ties[d, i] = K_{i+d, i}, with value = Σ ½bᵀKb over components b."""
        raise self._lacks("ties")

    @optional
    def prox(self, B: Array, step: float) -> Array:
        """Return the X of least penalty(X) + ‖X − B‖²/(2 step)."""
        raise self._lacks("prox")

    @optional
    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Return the X ≥ 0 of least penalty(X) + ‖X − B‖²/(2 step)."""
        raise self._lacks("prox_nonneg")

    @optional
    def majorize(self, B: Array) -> Quadratic:
        """Return a convex quadratic that touches the penalty at B and is nowhere below it."""
        raise self._lacks("majorize")

    @optional
    def squares(self, B: Array) -> tuple[float, float]:
        """Return ‖V − model‖² and ‖V‖² of a penalty that compares data with a model."""
        raise self._lacks("squares")

    @optional
    def operator(self, W: Array) -> Operator:
        """Return the symmetric A, at W, of a penalty that is made from tr(WᵀAW)."""
        raise self._lacks("operator")

    @optional
    def scaled(self, c: float) -> Penalty:
        """Return the penalty that has at c·B the value this one has at B, c > 0."""
        raise self._lacks("scaled")

    @optional
    def times(self, factor: float) -> Penalty:
        """Return a multiple of the penalty."""
        raise self._lacks("times")

    @optional
    def power(self, own: int) -> int | None:
        """Return the power of two that the penalty has at factors of the size 2^own, about.

        Asked of penalties that hold data; those with no `degree` are asked about the size of one.
        Nothing is returned where it is not known, or the data are zero.
        """
        raise self._lacks("power")

    @optional
    def slope(self, B: Array) -> Array:
        """Return the gradient at B of a penalty that is not convex, to be linearized there."""
        raise self._lacks("slope")

    @optional
    def price(self) -> float:
        """Return what each entry that is not zero costs, of a penalty that counts them."""
        raise self._lacks("price")

    @optional
    def constant_on(self, P: Array) -> Constraint:
        """Return a convex set that holds P, over which a penalty without a slope is at most as at P."""
        raise self._lacks("constant_on")


@dataclass(frozen=True)
class Weighted(Penalty):
    """A penalty that its first setting, `weight`, multiplies."""

    weight: Weight

    def times(self, factor: float) -> Self:
        """Multiply the weight."""
        return replace(self, weight=factor * self.weight)
