"""Concave penalties on magnitudes: large entries pay less for each further bit than small ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from conicnmf.model.terms import Weighted
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class _Concave(Weighted):
    """A weighted sum over magnitudes of a function that rises ever more slowly."""

    each = "entry"
    sign_free: ClassVar[bool] = True

    def _rises(self, sizes: Array) -> Array:
        """Return the derivative of the function at magnitudes."""
        raise self._lacks("slope")

    def slope(self, B: Array) -> Array:
        """Return the gradient, with sign(0) = 1 as on the non-negative orthant."""
        rise = self.weight * self._rises(np.abs(B))
        return np.where(B < 0, -rise, rise).astype(B.dtype)

    def gradient(self, B: Array) -> Array:
        """Return the same."""
        return self.slope(B)


@dataclass(frozen=True)
class LogSum(_Concave):
    """The penalty weight · Σ log(1 + |b|/eps): the smaller `eps`, the more it counts entries.

    It is not convex. Solvers linearize it at the iterate, which weighs the entries of an L1 anew.

    References
    ----------
    Candès, Wakin and Boyd, Enhancing sparsity by reweighted l1 minimization, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> round(LogSum(2.0).value(np.array([[0.0, np.e - 1]])), 12)
    2.0
    """

    eps: Positive = 1.0

    def value(self, B: Array) -> float:
        """Return the weighted sum of logarithms."""
        return self.weight * float(np.log1p(np.abs(B) / self.eps).sum())

    def _rises(self, sizes: Array) -> Array:
        return 1 / (self.eps + sizes)

    def scaled(self, c: float) -> Self:
        """Scale eps."""
        return replace(self, eps=c * self.eps)


@dataclass(frozen=True)
class CappedL1(_Concave):
    """The penalty weight · Σ min(|b|, cap): beyond the cap an entry costs no more.

    It is not convex. Solvers linearize it at the iterate.

    Examples
    --------
    >>> import numpy as np
    >>> CappedL1(0.5, cap=2.0).value(np.array([[1.0, -7.0]]))
    1.5
    """

    cap: Positive = 1.0

    def value(self, B: Array) -> float:
        """Return the weighted sum of capped magnitudes."""
        return self.weight * float(np.minimum(np.abs(B), self.cap).sum())

    def _rises(self, sizes: Array) -> Array:
        return np.asarray(sizes < self.cap, dtype=float)

    def scaled(self, c: float) -> Self:
        """Scale the cap; an entry and its cap cost what they did."""
        return replace(self, weight=self.weight / c, cap=c * self.cap)
