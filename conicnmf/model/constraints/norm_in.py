"""A norm of one's own: wᵀBw = 1 for each component w."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.operators import Operator, as_operator
from conicnmf.model.terms import Constraint, Each, Example
from conicnmf.settings import Positive, Reads
from conicnmf.types import Array


@dataclass(frozen=True, eq=False, repr=False)
class NormIn(Constraint):
    """Each component w has wᵀBw = 1, or at most 1 with `equal=False`.

    Parameters
    ----------
    B : array, sparse matrix, LinearOperator or LowRank
        Symmetric and positive semi-definite.
    equal : bool

    Examples
    --------
    >>> NormIn(np.diag([1.0, 4.0])).violation(np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([0., 3.])
    """

    B: Annotated[Any, Reads(as_operator)]
    equal: bool = True
    level: Positive = 1.0
    each: Each = field(default="component", init=False)

    def __repr__(self) -> str:
        return f"wᵀBw {'=' if self.equal else '≤'} {self.level:g}"

    @property
    def convex(self) -> bool:
        """The ball is convex, its surface is not."""
        return not self.equal

    @property
    def metric(self) -> Operator:
        """B."""
        operator: Operator = self.B
        return operator

    def check(self, shape: tuple[int, int]) -> None:
        """Raise unless B has a row for each entry of a component."""
        if self.metric.size not in shape:
            raise InputError(
                f"NormIn needs a B of the size of a component, got {self.metric.size} for a factor "
                f"of shape {shape}"
            )

    def squares(self, B: Array) -> Array:
        """Return wᵀBw of each component."""
        W = np.ascontiguousarray(B.T)
        return np.asarray(np.sum(W * (self.metric @ W), axis=0))

    def violation(self, B: Array) -> Array:
        """Return how far each wᵀBw is from the level, relative to it."""
        excess = self.squares(B) / self.level - 1
        return np.asarray(np.abs(excess) if self.equal else np.maximum(excess, 0.0))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return ‖Lᵀw‖ ≤ √level for each component, with B = LLᵀ, in the units of w."""
        root, unit = self.metric.root, 2.0**-self._half_power
        return [cp.norm(B @ (unit * root), 2, axis=1) <= unit * np.sqrt(self.level)]

    def approach(self, B: Array) -> Array:
        """Return the components on the scale that is asked for."""
        sizes = np.sqrt(np.maximum(self.squares(B), 0.0) / self.level)
        safe = np.where(sizes > 0, sizes, 1.0)
        return np.asarray(B / safe[:, None], dtype=B.dtype)

    def size(self) -> float:
        """Return the length of about which components are; one where B is zero."""
        return float(np.sqrt(self.level)) * 2.0**-self._half_power

    @property
    def _half_power(self) -> int:
        """The power of two of the root of B."""
        return (self.metric.power or 0) // 2

    def scaled(self, c: float) -> NormIn:
        """Scale the level."""
        return replace(self, level=c**2 * self.level)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a ball and its surface."""
        inside = np.array([[1.0, 0.0], [0.0, 0.5]])
        B = np.diag([1.0, 4.0])
        return [
            Example(cls(B), inside, 3 * inside),
            Example(cls(B, equal=False), inside / 2, 3 * inside),
        ]
