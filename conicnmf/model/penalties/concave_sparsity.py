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

    def _lowest(self, sizes: Array, price: float) -> Array:
        """Return the x ≥ 0 of least price · f(x) + ½(x − size)² for each size ≥ 0."""
        raise self._lacks("prox")

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Return the best of the few points where a minimum may be, entry by entry."""
        return self._lowest(np.maximum(B, 0), step * self.weight).astype(B.dtype)

    def prox(self, B: Array, step: float) -> Array:
        """Do the same for magnitudes, and keep the signs."""
        return np.copysign(self._lowest(np.abs(B), step * self.weight), B).astype(B.dtype)


@dataclass(frozen=True)
class LogSum(_Concave):
    """The penalty `weight · Σ log(1 + |b|/eps)`: for small `eps` nearly a count.

    It is not convex. Solvers linearize it at the iterate, which is an L1 penalty with new weights.

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

    def _lowest(self, sizes: Array, price: float) -> Array:
        # (x + eps)(x − b) + price = 0 where the slope is zero; the larger root is a minimum.
        under = (sizes + self.eps) ** 2 - 4 * price
        inner = np.maximum((sizes - self.eps + np.sqrt(np.maximum(under, 0.0))) / 2, 0.0)
        inner = np.where(under > 0, inner, 0.0)
        cost = price * np.log1p(inner / self.eps) + (inner - sizes) ** 2 / 2
        return np.asarray(np.where(cost < sizes**2 / 2, inner, 0.0))

    def scaled(self, c: float) -> Self:
        """Scale eps."""
        return replace(self, eps=c * self.eps)


@dataclass(frozen=True)
class CappedL1(_Concave):
    """The penalty `weight · Σ min(|b|, cap)`: beyond the cap an entry costs no more.

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

    def _lowest(self, sizes: Array, price: float) -> Array:
        below, above = np.clip(sizes - price, 0.0, self.cap), np.maximum(sizes, self.cap)
        lower = price * below + (below - sizes) ** 2 / 2
        higher = price * self.cap + (above - sizes) ** 2 / 2
        return np.asarray(np.where(lower < higher, below, above))

    def scaled(self, c: float) -> Self:
        """Scale the cap; an entry and its cap cost what they did."""
        return replace(self, weight=self.weight / c, cap=c * self.cap)
