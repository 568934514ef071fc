"""What a user's CVXPY function of one factor is as a penalty, whatever its curvature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.evaluate import evaluate
from conicnmf.model.terms import Penalty, check_stated
from conicnmf.settings import Positive
from conicnmf.types import Array

_SIZES = (2.0**-40, 2.0**-10, 2.0**10, 2.0**40)


def _degree(
    fn: Callable[[cp.Expression], cp.Expression], shape: tuple[int, ...], unit: float
) -> int | None:
    """Return d where fn(t X) = tᵈ fn(X), as for norms and squares; nothing for other functions.

    Sizes about one and about the user's are tried: a cap of the user's shows in the latter alone.
    """
    rng = np.random.default_rng(0)
    sizes = [*_SIZES, *(t / unit for t in _SIZES)]
    for degree in (1, 2):
        points = [rng.random(shape), rng.standard_normal(shape)]
        known = [(evaluate(fn(cp.Constant(X))), X) for X in points]
        pairs = [
            (evaluate(fn(cp.Constant(t * X))), t**degree * own) for own, X in known for t in sizes
        ]
        found, wanted = (np.array(side) for side in zip(*pairs, strict=True))
        if np.isfinite(found).all() and np.allclose(found, wanted, rtol=1e-12, atol=0):
            return degree
    return None


@dataclass(frozen=True, eq=False, repr=False)
class StatedPenalty(Penalty):
    """The scalar that `fn` returns for a factor, given as the user knows it."""

    fn: Callable[[cp.Expression], cp.Expression]
    name: str = ""
    flipped: bool = False
    unit: Positive = 1.0
    weight: Positive = 1.0

    curvature: ClassVar[str] = "convex"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name or getattr(self.fn, '__name__', 'penalty')})"

    def transposed(self) -> Self:
        """Pass the transpose to the user's function from now on."""
        return replace(self, flipped=not self.flipped)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise a `ModelError` unless the function returns a scalar of the right curvature."""
        what = f"a {self.curvature} scalar"
        parts = check_stated(self, self.form, shape, what, cp.Expression)
        if len(parts) != 1:
            raise ModelError(f"{self} must return {what}, got {len(parts)} of them; add them up")
        form = parts[0]
        fits = form.is_convex() if self.curvature == "convex" else form.is_concave()
        if not (form.is_scalar() and fits):
            raise ModelError(
                f"{self} must return {what}, got {form.curvature.lower()} of shape "
                f"{form.shape}; compose it from CVXPY's {self.curvature} atoms"
            )

    def value(self, B: Array) -> float:
        """Evaluate the user's expression."""
        return evaluate(self.form(cp.Constant(B)))

    def form(self, B: cp.Expression) -> cp.Expression:
        """Return the user's expression."""
        own, weight = B.T if self.flipped else B, self.weight
        if self.unit != 1:
            if own.shape not in self._degrees:
                self._degrees[own.shape] = _degree(self.fn, own.shape, self.unit)
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

    def scaled(self, c: float) -> Self:
        """Pass the factor to the user's function in its own unit from now on."""
        return replace(self, unit=c * self.unit)

    def times(self, factor: float) -> Self:
        """Multiply the user's expression."""
        return replace(self, weight=factor * self.weight)
