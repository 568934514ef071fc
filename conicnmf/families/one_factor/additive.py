"""Additive rules: Oja's rule with normalization, and the natural gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.families.one_factor.multiplicative import Rule
from conicnmf.families.one_factor.needs import nonnegative_alone, normalized, orthonormal
from conicnmf.families.one_factor.solver import ViewNeed
from conicnmf.families.one_factor.view import OneFactor
from conicnmf.model.operators import Point
from conicnmf.settings import Positive
from conicnmf.types import Array


def direction(view: OneFactor, point: Point) -> Array:
    """Return G − W(WᵀBG), which Oja's rules (14), (27), (39) and the natural gradient (29) share.

    They differ in how they write the second term; with G = AW and a symmetric A it is the same.
    """
    W, G = point.W, point.G
    return np.asarray(G - W @ (W.T @ (G if view.norm is None else view.in_norm(G))))


@dataclass(frozen=True)
class _Additive(Rule):
    """A step of length `rate`, in units of the inverse of ‖G‖/‖W‖."""

    rate: Positive = 0.2

    def ahead(self, view: OneFactor, point: Point) -> Array:
        """Return W a step along the direction."""
        size = float(np.linalg.norm(point.G)) or 1.0
        step = self.rate * float(np.linalg.norm(point.W)) / size
        return np.asarray(point.W + step * direction(view, point), dtype=point.W.dtype)


@dataclass(frozen=True)
class Oja(_Additive):
    """Oja's rule: W + γ(AW − WWᵀBAW), normalized, and clipped at zero.

    Several columns are normalized to W(WᵀW)^(−1/2), one to wᵀBw = 1.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import Oja, QuadraticProjection
    >>> round(cn.solve(QuadraticProjection(np.diag([1.0, 2.0])), Oja()).objective, 4)
    -1.0
    """

    def move(self, view: OneFactor, point: Point) -> tuple[Array | None, dict[str, float]]:
        """Step, take the nearest orthonormal columns, and clip."""
        W = self.ahead(view, point)
        if W.shape[1] > 1:
            left, _, right = np.linalg.svd(W, full_matrices=False)
            W = left @ right
        return np.maximum(W, 0.0), {}


@dataclass(frozen=True)
class NaturalGradient(_Additive):
    """The natural gradient of orthonormal columns: W + γ(G − WGᵀW), clipped at zero.

    Nothing but its own second term and the largest singular value keeps the columns orthonormal.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import NaturalGradient, QuadraticProjection
    >>> round(cn.solve(QuadraticProjection(np.diag([1.0, 2.0])), NaturalGradient()).objective, 4)
    -1.0
    """

    asks: ClassVar[Sequence[ViewNeed]] = (normalized, nonnegative_alone, orthonormal)

    def move(self, view: OneFactor, point: Point) -> tuple[Array | None, dict[str, float]]:
        """Step and clip."""
        return np.maximum(self.ahead(view, point), 0.0), {}
