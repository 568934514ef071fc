"""Any convex constraint on one factor, as CVXPY states it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from threading import get_ident
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.constraints.row_sizes import (
    enlarged,
    numbers_of,
    size_it_is_about,
    strictness,
)
from conicnmf.model.terms import Constraint, Example, check_stated
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class Convex(Constraint):
    """The convex CVXPY constraints that `fn` returns for a factor.

    `fn` receives the factor in its usual orientation (W is features × rank, H is rank × samples) and
    returns one constraint or a list. Its violation is CVXPY's own, in the units of the constraint;
    where all its numbers are below a thousandth, they are enlarged first.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> smooth = Convex(lambda H: cp.abs(cp.diff(H, axis=1)) <= 0.1, name="smooth rows")
    >>> smooth.violation(np.array([[0.0, 0.5]])).round(6)
    array([0.4])
    """

    fn: Callable[[cp.Expression], cp.Constraint | Iterable[cp.Constraint]]
    name: str = ""
    flipped: bool = False
    unit: Positive = 1.0

    def __repr__(self) -> str:
        return f"Convex({self.name or getattr(self.fn, '__name__', 'constraint')})"

    def transposed(self) -> Convex:
        """Pass the transpose to the user's function from now on."""
        return replace(self, flipped=not self.flipped)

    def check(self, shape: tuple[int, int]) -> None:
        """Raise a `ModelError` unless the function returns convex constraints."""
        for constraint in check_stated(self, self._parts, shape, "constraints", cp.Constraint):
            if not constraint.is_dcp():
                raise ModelError(
                    f"{self} must return convex constraints, got {constraint}, which breaks CVXPY's "
                    "rules; write it as convex <= concave or affine == affine"
                )

    def violation(self, B: Array) -> Array:
        """Return CVXPY's violation of every entry of the constraints.

        The last answer is kept: a new point is asked about by a method, and again by the engine.
        """
        last = self._last.get(get_ident())
        if last is not None and np.array_equal(last[0], B):
            return last[1].copy()
        found = self._violation(B)
        self._last[get_ident()] = B.copy(), found
        return found.copy()

    def _violation(self, B: Array) -> Array:
        parts = self._at(B)
        with np.errstate(divide="ignore", invalid="ignore"):  # a cone at zero divides by its norm
            own = B / self.unit
            found = [strictness(part, own) * np.ravel(part.violation()) for part in parts]
        return np.concatenate(found) if found else np.zeros(1)

    def _at(self, B: Array) -> list[cp.Constraint]:
        """Return the constraints at B; to state them takes longer than to evaluate them."""
        key = (B.shape, get_ident())
        if key not in self._stated:
            X = cp.Variable(B.shape)
            self._stated[key] = X, self._parts(X)
        X, parts = self._stated[key]
        X.save_value(B)
        return parts

    @cached_property
    def _last(self) -> dict[int, tuple[Array, Array]]:
        """The last point of each thread, and its violation."""
        return {}

    @cached_property
    def _stated(self) -> dict[tuple[Any, ...], tuple[cp.Variable, list[cp.Constraint]]]:
        """What `fn` returned for a variable of each shape, for each thread."""
        return {}

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the user's constraints, in a unit of their own where their numbers are small."""
        ends = (np.zeros(B.shape), np.ones(B.shape))
        sizes = [[numbers_of(part, X / self.unit) for part in self._at(X)] for X in ends]
        return [
            enlarged(part, max(own))
            for part, own in zip(self._parts(B), zip(*sizes, strict=True), strict=True)
        ]

    def _parts(self, B: cp.Expression) -> list[cp.Constraint]:
        own = B if self.unit == 1 else B / self.unit
        stated: Any = self.fn(own.T if self.flipped else own)
        return [stated] if isinstance(stated, cp.Constraint) else list(stated)

    def guessed_size(self, shape: tuple[int, int]) -> float:
        """Return the size at which small constants count, else one: people write about ones."""
        return self.unit * size_it_is_about(lambda X: self._at(self.unit * X), shape)

    def scaled(self, c: float) -> Convex:
        """Pass the factor to the user's function in its own unit from now on."""
        return replace(self, unit=c * self.unit)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a bound on differences."""
        constraint = cls(lambda X: cp.abs(cp.diff(X, axis=1)) <= 1)
        return [Example(constraint, np.array([[0.0, 0.5, 1.0]]), np.array([[0.0, 2.0, 1.0]]))]
