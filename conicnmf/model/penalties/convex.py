"""Any convex CVXPY function of one factor as a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.evaluate import evaluate
from conicnmf.model.terms import Penalty, check_stated
from conicnmf.settings import Positive
from conicnmf.types import Array

_SIZES = (2.0**-40, 2.0**-10, 2.0**10, 2.0**40)


def _degree(fn: Callable[[cp.Expression], cp.Expression], shape: tuple[int, ...]) -> int | None:
    """Return d where fn(t X) = tᵈ fn(X), as for norms and squares; nothing for other functions."""
    rng = np.random.default_rng(0)
    for degree in (1, 2):
        points = [rng.random(shape), rng.standard_normal(shape)]
        known = [(evaluate(fn(cp.Constant(X))), X) for X in points]
        pairs = [
            (evaluate(fn(cp.Constant(t * X))), t**degree * own) for own, X in known for t in _SIZES
        ]
        found, wanted = (np.array(side) for side in zip(*pairs, strict=True))
        if np.isfinite(found).all() and np.allclose(found, wanted, rtol=1e-12, atol=0):
            return degree
    return None


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
        own, weight = B.T if self.flipped else B, self.weight
        if self.unit != 1:
            if own.shape not in self._degrees:
                self._degrees[own.shape] = _degree(self.fn, own.shape)
            degree = self._degrees[own.shape]
            if degree is None:
                own = own / self.unit
            else:
                # Cone solvers then see numbers of the factor's size inside the expression, too.
                weight = weight / self.unit**degree
        form = self.fn(own)
        return form if weight == 1 else weight * form

    @cached_property
    def _degrees(self) -> dict[tuple[int, ...], int | None]:
        """What was found of the function for each shape that it was asked for."""
        return {}

    def scaled(self, c: float) -> ConvexPenalty:
        """Hand the user's function the factor in its own unit from now on."""
        return replace(self, unit=c * self.unit)

    def times(self, factor: float) -> ConvexPenalty:
        """Multiply the user's expression."""
        return replace(self, weight=factor * self.weight)
