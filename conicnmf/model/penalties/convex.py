"""Any convex CVXPY function of one factor as a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cvxpy as cp

from conicnmf.errors import ModelError
from conicnmf.model.evaluate import evaluate
from conicnmf.model.terms import Penalty, check_stated
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class ConvexPenalty(Penalty):
    """The convex scalar that `fn` returns for a factor, given as the user knows it.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> rough = ConvexPenalty(lambda H: cp.sum_squares(cp.diff(H, axis=1)))
    >>> rough.value(np.array([[0.0, 2.0, 1.0]]))
    5.0
    """

    fn: Callable[[cp.Expression], cp.Expression]
    name: str = ""
    flipped: bool = False
    unit: Positive = 1.0
    weight: Positive = 1.0

    def __repr__(self) -> str:
        return f"ConvexPenalty({self.name or getattr(self.fn, '__name__', 'penalty')})"

    def transposed(self) -> ConvexPenalty:
        """Hand the user's function the transpose from now on."""
        return replace(self, flipped=not self.flipped)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise a `ModelError` unless the function returns a convex scalar."""
        (form,) = check_stated(self, self.expression, shape, "a convex scalar", cp.Expression)
        if not (form.is_scalar() and form.is_convex()):
            raise ModelError(
                f"{self} must return a convex scalar, got {form.curvature.lower()} of shape "
                f"{form.shape}; compose it from CVXPY's convex atoms"
            )

    def value(self, B: Array) -> float:
        """Evaluate the user's expression."""
        return evaluate(self.expression(cp.Constant(B)))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the user's expression."""
        own = B if self.unit == 1 else B / self.unit
        form = self.fn(own.T if self.flipped else own)
        return form if self.weight == 1 else self.weight * form

    def scaled(self, c: float) -> ConvexPenalty:
        """Hand the user's function the factor in its own unit from now on."""
        return replace(self, unit=c * self.unit)

    def times(self, factor: float) -> ConvexPenalty:
        """Multiply the user's expression."""
        return replace(self, weight=factor * self.weight)
