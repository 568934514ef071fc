"""Sums over entries that lie above a loss of non-negative factors: what multiplicative rules lower.

With b̃ the point where it touches and t = b/b̃, an entry's slope is a sum of powers of t, each with a
coefficient of its own: P t^p − N t^q, where P − N is the gradient of the loss at b̃. Such sums add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Separable:
    """The sum over all entries of ∫ Σ_e slopes[e]·(b/base)^e db, from `base` to b.

    Slopes of exponents above zero are non-negative and those of exponents below zero non-positive,
    so every entry's part is convex.

    Examples
    --------
    >>> bound = Separable.of(np.ones((1, 1)), down=4.0, up=2.0, powers=(0.0, -1.0))
    >>> round(bound.value(np.full((1, 1), 2.0)), 3)  # 2·(2 − 1) − 4·log 2
    -0.773
    """

    base: Array
    slopes: Mapping[float, Array]

    @classmethod
    def of(
        cls,
        base: Array,
        down: Array | float,
        up: Array | float,
        powers: tuple[float, float],
    ) -> Separable:
        """Return the sum with slope up·t^p − down·t^q for powers (p, q)."""
        p, q = powers
        slopes = {p: np.asarray(up), q: np.negative(down)}
        whole = {e: w if w.shape == base.shape else w + 0 * base for e, w in slopes.items()}
        return cls(base, whole)

    @staticmethod
    def added(parts: Sequence[Separable], slope: float = 0.0, curvature: float = 0.0) -> Separable:
        """Return the sum, with penalties slope·b + ½·curvature·b² bounded above in the same way."""
        base = parts[0].base
        slopes: dict[float, Array] = {}
        for part in parts:
            for e, w in part.slopes.items():
                slopes[e] = slopes[e] + w if e in slopes else w
        top = max(slopes)
        if slope or curvature:
            # b ≤ b̃ (t^{e+1} + e)/(e + 1) for e ≥ 0: at the highest power no entry is sent to zero.
            slopes[top] = slopes[top] + slope
            steep = max(top, 1.0)
            slopes[steep] = slopes.get(steep, 0 * base) + curvature * base
        return Separable(base, slopes)

    def value(self, B: Array) -> float:
        """Return the sum at B."""
        total = 0.0
        t = np.divide(B, self.base, out=np.ones_like(self.base), where=self.base > 0)
        fixed = (self.base == 0) & (B > 0)
        for e, w in self.slopes.items():
            if e == 0:
                total += float(np.sum(w * (B - self.base)))
                continue
            if e > 0 and fixed.any():
                return np.inf  # where the bound touches at zero it is a wall
            part = w * self.base
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                grown = np.log(t) if e == -1 else (t ** (e + 1) - 1) / (e + 1)
                total += float(np.sum(np.where(part != 0, part * grown, 0.0)))
        return total

    def gradient(self, B: Array) -> Array:
        """Return the slope of every entry at B."""
        t = np.divide(B, self.base, out=np.ones_like(self.base), where=self.base > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.where(w != 0, w * t**e, 0.0) for e, w in self.slopes.items()]
        return np.asarray(sum(parts[1:], parts[0]))

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the sum for CVXPY, convex in B."""
        alive = self.base >= np.finfo(self.base.dtype).tiny  # below it 1/base overflows
        # Where the sum touches at zero it is a wall; a slope steeper than any other does the same.
        steep = 1e3 * max(float(np.abs(w).max()) for w in self.slopes.values())
        walls = ~alive * (steep if max(self.slopes) > 0 else 0.0)
        total = cp.sum(cp.multiply(walls, B))
        for e, w in self.slopes.items():
            if e == 0:
                total = total + cp.sum(cp.multiply(w, B)) - float(np.sum(w * self.base))
                continue
            rows, columns = np.nonzero(alive & (w != 0))
            if not rows.size:
                continue
            base = self.base[rows, columns]
            part, t = w[rows, columns] * base, cp.multiply(1 / base, B[rows, columns])
            grown = cp.log(t) if e == -1 else (cp.power(t, e + 1) - 1) / (e + 1)
            total = total + cp.sum(cp.multiply(part, grown))
        return total
