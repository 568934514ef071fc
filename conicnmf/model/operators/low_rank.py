"""G Gᵀ + ridge·I, of which G alone is kept: questions are asked of matrices as large as G is wide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.incoming import check_incoming
from conicnmf.model.operators.base import FORMED, Operator, Point
from conicnmf.model.operators.matrices import Moments, Symmetric, dense
from conicnmf.types import Array, Data, power_of, stored

_ROWS = 512
_NEWTON = 100


@dataclass(frozen=True, eq=False)
class LowRank(Operator):
    """A = G Gᵀ + ridge·I, of which G alone is kept.

    Rules that multiply need A = A⁺ − A⁻. Up to 4000 rows these are the positive and the negative
    entries of A. Beyond that they come from the signs of G = G⁺ − G⁻, as G⁺G⁺ᵀ + G⁻G⁻ᵀ and
    G⁺G⁻ᵀ + G⁻G⁺ᵀ: no matrix of the size of A is formed, and both are larger, so steps are shorter.

    Examples
    --------
    >>> LowRank(np.array([[1.0], [2.0]]), 0.5) @ np.eye(2)
    array([[1.5, 2. ],
           [2. , 4.5]])
    """

    factor: Data
    ridge: float = 0.0

    def __post_init__(self) -> None:
        check_incoming(self.factor, "factor")

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.factor.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the factor."""
        kind: np.dtype[Any] = self.factor.dtype
        return kind

    def __matmul__(self, W: Array) -> Array:
        return np.asarray(self.factor @ (self.factor.T @ W) + self.ridge * W)

    @cached_property
    def _formed(self) -> Symmetric | None:
        """A itself where it is small enough to be split entry by entry."""
        return Symmetric(self.matrix()) if self.size <= FORMED else None

    @cached_property
    def _signs(self) -> tuple[Data, Data]:
        """G⁺ and G⁻."""
        G = self.factor
        if sp.issparse(G):
            return G.maximum(0.0), (-G).maximum(0.0)
        return np.maximum(G, 0.0), np.maximum(-G, 0.0)

    @property
    def splits(self) -> bool:
        """It does, by entries or by the signs of G."""
        return True

    @cached_property
    def signed(self) -> bool:
        """Whether A has negative entries, looked for in a few rows at a time."""
        G = self.factor
        starts = range(0, self.size, _ROWS)
        return self.ridge < 0 or any(
            dense(G[i : i + _ROWS] @ G.T).min(initial=0.0) < 0 for i in starts
        )

    def at(self, W: Array) -> Point:
        """Return W with both products."""
        if self._formed is not None:
            return self._formed.at(W)
        if not self.signed:
            return Point(W, self @ W)
        up, down = self._signs
        first, second = up.T @ W, down.T @ W
        plus = np.asarray(up @ first + down @ second) + max(self.ridge, 0.0) * W
        minus = np.asarray(up @ second + down @ first) + max(-self.ridge, 0.0) * W
        return Point(W, plus, minus)

    @property
    def trace(self) -> float:
        """The sum of the diagonal."""
        return float(np.sum(stored(self.factor) ** 2)) + self.ridge * self.size

    @cached_property
    def largest(self) -> float:
        """The largest eigenvalue: that of GᵀG, plus the ridge."""
        inner = dense(self.factor.T @ self.factor)
        return float(np.linalg.eigvalsh(inner).max(initial=0.0)) + self.ridge

    @property
    def semidefinite(self) -> bool:
        """It is for a ridge that is not negative."""
        return self.ridge >= 0

    def times(self, c: float) -> LowRank:
        """Return the same with c times the ridge and √c times the factor."""
        return LowRank(self.factor * self.dtype.type(math.sqrt(c)), c * self.ridge)

    @cached_property
    def power(self) -> int | None:
        """An even one, so that the factor changes no digit."""
        factor, ridge = power_of(self.factor), power_of(np.array([self.ridge]))
        found = [2 * factor] if factor is not None else []
        found += [ridge // 2 * 2] if ridge is not None else []
        return max(found, default=None)

    def matrix(self) -> Array:
        """Return A as a plain array."""
        return dense(self.factor @ self.factor.T) + self.ridge * np.eye(self.size)

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return Moments(self.factor).diagonal() + self.ridge

    @cached_property
    def root(self) -> Data:
        """The factor itself, with the ridge where there is one."""
        if self.ridge <= 0:
            left, sizes, _ = np.linalg.svd(dense(self.factor), full_matrices=False)
            kept = sizes > 1e-10 * sizes.max(initial=0.0)
            return np.asarray(left[:, kept] * sizes[kept])
        ridge = np.sqrt(self.ridge) * sp.eye_array(self.size)
        return sp.hstack([sp.csc_array(self.factor), ridge], format="csc")

    @cached_property
    def directions(self) -> Array:
        """G with A = G Gᵀ, from the singular vectors of the factor where there is no ridge."""
        if self.ridge:
            return super().directions
        left, sizes, _ = np.linalg.svd(dense(self.factor), full_matrices=False)
        kept = sizes > 1e-10 * sizes.max(initial=0.0)
        return np.asarray(left[:, kept] * sizes[kept])

    @property
    def width(self) -> int:
        """The columns of G where there is no ridge."""
        return self.size if self.ridge else min(self.size, int(self.factor.shape[1]))

    @cached_property
    def single(self) -> Array | None:
        """The only direction, where there is one alone."""
        alone = not self.ridge and self.directions.shape[1] == 1
        return self.directions[:, 0] if alone else None

    def nonneg_least(self, g: Array) -> Array:
        """Solve the dual problem where it is the smaller one.

        With z = Gᵀw it is min ½‖z‖² + ‖(g − Gz)₊‖²/2ρ, smooth and as large as G is wide, and the w
        that belongs to z is (g − Gz)₊/ρ.
        """
        if self.ridge <= 0 or self.factor.shape[1] >= self.size:
            return super().nonneg_least(g)
        return _dual_newton(self.factor, self.ridge, g)

    def inverse_norm(self, x: Array) -> float:
        """Return √(xᵀA⁻¹x) from a matrix as large as G is wide."""
        if self.ridge <= 0 or self.factor.shape[1] >= self.size:
            return super().inverse_norm(x)
        y = np.asarray(self.factor.T @ x)
        inner = dense(self.factor.T @ self.factor) + self.ridge * np.eye(len(y))
        return float(np.sqrt(max(0.0, x @ x - y @ np.linalg.solve(inner, y)) / self.ridge))


def _dual_newton(G: Data, ridge: float, g: Array) -> Array:
    """Minimize the dual by Newton steps; they end exactly once the support no longer changes."""

    def state(z: Array) -> tuple[float, Array, Array]:
        over = np.maximum(g - np.asarray(G @ z), 0.0)
        value = 0.5 * float(z @ z) + float(over @ over) / (2 * ridge)
        return value, over, z - np.asarray(G.T @ over) / ridge

    z = np.zeros(G.shape[1])
    value, over, slope = state(z)
    for _ in range(_NEWTON):
        support = over > 0
        active = G[np.flatnonzero(support)]
        curvature = np.eye(len(z)) + dense(active.T @ active) / ridge
        step = -np.linalg.solve(curvature, slope)
        fall, t = float(slope @ step), 1.0
        while t > 1e-10:
            ahead = state(z + t * step)
            if ahead[0] <= value + 1e-4 * t * fall:
                break
            t /= 2
        else:
            break  # nothing is left but rounding
        z, (value, over, slope) = z + t * step, ahead
        if t == 1 and np.array_equal(support, over > 0):
            break  # on one support the dual is a quadratic, and the step was exact
    return over / ridge
