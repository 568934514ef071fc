"""The gain ½tr(WᵀAW), to be made large: what problems with one factor maximize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator

from conicnmf.errors import InputError
from conicnmf.model.operators import Operator, as_operator
from conicnmf.model.terms import Penalty
from conicnmf.settings import Positive, Reads
from conicnmf.types import Array


def _as_operator_or_function(A: Any, name: str) -> Any:
    # A linear operator may be called, too.
    is_function = callable(A) and not isinstance(A, (Operator, LinearOperator))
    return A if is_function else as_operator(A, name)


@dataclass(frozen=True, eq=False, repr=False)
class Gain(Penalty):
    """The penalty −½tr(WᵀAW) on W with one component a column.

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator, LowRank or callable
        Any symmetric matrix of the size of W's columns, or a function of W that returns one.
    potential : callable, optional
        What is maximized, as a function of W, when A is a function and ½tr(WᵀAW) is not meant.

    Examples
    --------
    >>> Gain(np.diag([1.0, 2.0])).value(np.array([[0.0, 1.0]]))
    -1.0
    """

    A: Annotated[Any, Reads(_as_operator_or_function)]
    potential: Callable[[Array], float] | None = None
    unit: Positive = 1.0
    degree: ClassVar[int] = 2

    def __repr__(self) -> str:
        size = "A(W)" if self.fixed is None else f"A {self.fixed.size} × {self.fixed.size}"
        return f"Gain({size})"

    @property
    def fixed(self) -> Operator | None:
        """A, where it does not depend on W."""
        return self.A if isinstance(self.A, Operator) else None

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless A has a row for each row of W."""
        if self.fixed is not None and self.fixed.size != shape[0]:
            raise InputError(
                f"Gain needs an A with a row for each of the {shape[0]} rows of the factor, got "
                f"{self.fixed.size} × {self.fixed.size}"
            )

    def operator(self, W: Array) -> Operator:
        """Return A at W."""
        return as_operator(self.A(W / self.unit), "A(W)") if self.fixed is None else self.fixed

    def value(self, B: Array) -> float:
        """Return −½tr(WᵀAW)."""
        W = B.T / self.unit
        if self.potential is not None:
            return -float(self.potential(W))
        return -0.5 * float(np.sum(W * (self.operator(B.T) @ W)))

    def gradient(self, B: Array) -> Array:
        """Return −(A W)ᵀ, the gradient where A does not depend on W."""
        W = np.ascontiguousarray(B.T)
        return np.ascontiguousarray(-(self.operator(W) @ W).T / self.unit**2)

    def slope(self, B: Array) -> Array:
        """Return the gradient: where A is positive semi-definite, the gain lies above its tangent."""
        return self.gradient(B)

    def scaled(self, c: float) -> Gain:
        """Divide A, or pass the factor to a function in its own unit from now on."""
        if self.fixed is None or self.potential is not None:
            return replace(self, unit=c * self.unit)
        return replace(self, A=self.fixed.times(1 / c**2))

    def times(self, factor: float) -> Gain:
        """Return the gain of a multiple of A."""
        if self.fixed is None or self.potential is not None:
            raise self._lacks("times")
        return replace(self, A=self.fixed.times(factor))

    def power(self, own: int) -> int | None:
        """Return that of A, with the square of the factor's; nothing for a function of W."""
        known = self.fixed is not None and self.potential is None
        power = self.fixed.power if known and self.fixed is not None else None
        return None if power is None else power + 2 * own
