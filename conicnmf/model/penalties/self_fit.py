"""Data approximated by their own projections: ‖V − WWᵀV‖²."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.operators import Moments, Operator
from conicnmf.model.terms import Penalty
from conicnmf.settings import Positive, Reads
from conicnmf.types import Array, Data
from conicnmf.validate import as_data


@dataclass(frozen=True, eq=False, repr=False)
class SelfFit(Penalty):
    """The penalty ‖V − WWᵀV‖² on W with one component a column.

    V Vᵀ is formed only where that is cheaper than products with V.

    Examples
    --------
    >>> SelfFit(np.eye(2)).value(np.array([[1.0, 0.0]]))
    1.0
    """

    V: Annotated[Data, Reads(as_data)]
    unit: Positive = 1.0

    def __repr__(self) -> str:
        return f"SelfFit(V {self.V.shape[0]} × {self.V.shape[1]})"

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless V has a row for each row of W."""
        if self.V.shape[0] != shape[0]:
            raise InputError(
                f"SelfFit needs a V with a row for each of the {shape[0]} rows of the factor, got "
                f"{self.V.shape[0]}"
            )

    @cached_property
    def moments(self) -> Moments:
        """V Vᵀ."""
        return Moments(self.V)

    def operator(self, W: Array) -> Operator:
        """Return V Vᵀ."""
        return self.moments

    def value(self, B: Array) -> float:
        """Return ‖V‖² − 2tr(WᵀAW) + tr(WᵀAW WᵀW)."""
        W = np.ascontiguousarray(B.T) / self.unit
        return self.at(W, self.moments @ W)

    def at(self, W: Array, G: Array) -> float:
        """Return the penalty of W with its product G = V Vᵀ W."""
        fit, own = float(np.sum(W * G)), float(np.sum((W.T @ G) * (W.T @ W)))
        return max(0.0, self.moments.trace - 2 * fit + own)

    def gradient(self, B: Array) -> Array:
        """Return the gradient in B."""
        W = np.ascontiguousarray(B.T) / self.unit
        G = self.moments @ W
        slope = 2 * (W @ (W.T @ G) + G @ (W.T @ W)) - 4 * G
        return np.ascontiguousarray(slope.T / self.unit)

    def squares(self, B: Array) -> tuple[float, float]:
        """Return ‖V − WWᵀV‖² and ‖V‖²."""
        return self.value(B), self.moments.trace

    def times(self, factor: float) -> SelfFit:
        """Return the penalty of √factor·V."""
        return replace(self, V=self.V * self.V.dtype.type(math.sqrt(factor)))

    def power(self, own: int) -> int | None:
        """Return the square of V's, so that V changes no digit."""
        return self.moments.power

    def scaled(self, c: float) -> SelfFit:
        """Pass the factor to the penalty in its own unit from now on."""
        return replace(self, unit=c * self.unit)
