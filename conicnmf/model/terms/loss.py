"""Losses, and the forms in which a loss may be seen as a function of one factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.terms.base import Term, optional
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½⟨B, G B⟩ − ⟨C, B⟩ + constant, the loss as a function of one factor."""

    G: Array
    C: Array
    constant: float

    def value(self, B: Array) -> float:
        """Evaluate the quadratic without touching the data."""
        smooth = 0.5 * np.einsum("ij,ij->", self.G, B @ B.T) - np.einsum("ij,ij->", self.C, B)
        return float(smooth + self.constant)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The loss as ‖D − R B‖² + constant; R is (r, r), or (n, r, r) when columns differ."""

    R: Array
    D: Array
    constant: float

    def value(self, B: Array) -> float:
        """Return ‖D − R B‖² + constant."""
        model = self.R @ B if self.R.ndim == 2 else np.einsum("kij,jk->ik", self.R, B)
        return float(np.sum((self.D - model) ** 2)) + self.constant

    def with_signs(self, S: Array) -> Reduced:
        """Return the loss of S ∘ M as a function of M."""
        return Reduced(self.R * S.T[:, None, :], self.D, self.constant)

    def with_held(self, rows: Array) -> Reduced:
        """Return the loss as a function of the first rows of B, the last being held at these."""
        free = self.R.shape[-1] - len(rows)
        own, other = self.R[..., :free], self.R[..., free:]
        known = other @ rows if other.ndim == 2 else np.einsum("kij,jk->ik", other, rows)
        return _triangular(own, self.D - known, self.constant)

    @staticmethod
    def added(parts: Sequence[Reduced]) -> Reduced:
        """Return the sum of several losses of the same B."""
        if len(parts) == 1:
            return parts[0]
        columns = parts[0].D.shape[1]
        deep = any(part.R.ndim == 3 for part in parts)
        Rs = [
            np.broadcast_to(part.R, (columns, *part.R.shape[-2:])) if deep else part.R
            for part in parts
        ]
        R, D = np.concatenate(Rs, axis=-2), np.concatenate([part.D for part in parts])
        return _triangular(R, D, sum(part.constant for part in parts))


def _triangular(R: Array, D: Array, constant: float) -> Reduced:
    """Return ‖D − R B‖² + constant for a tall R with the square R of its QR factorization."""
    Q, square = np.linalg.qr(R)
    missing = max(0, square.shape[-1] - square.shape[-2])
    target = Q.T @ D if Q.ndim == 2 else np.einsum("kij,ik->jk", Q, D)
    lost = max(0.0, float(np.sum(D**2) - np.sum(target**2)))
    padding = [(0, 0)] * (square.ndim - 2) + [(0, missing), (0, 0)]
    return Reduced(np.pad(square, padding), np.pad(target, ((0, missing), (0, 0))), constant + lost)


class Loss(Term):
    """How far A B is from the data Y; it may be asked to stay at or below `cap`."""

    cap: float = np.inf
    degree: ClassVar[float] = 2.0
    """The power of c with which the loss grows when data and model are multiplied by c."""

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss."""
        raise self._lacks("value")

    def times(self, weight: float) -> Self:
        """Return a multiple, by the loss's setting `scale`; its cap is that of the same set."""
        settings: set[str] = {own.name for own in fields(self)} if is_dataclass(self) else set()
        if "scale" not in settings:
            raise InputError(f"{self} has no setting scale, so it has no weight; leave that at 1")
        scaled: Any = {"scale": weight * self.scale}  # type: ignore[attr-defined]
        capped = {"cap": weight * self.cap} if "cap" in settings else {}
        return replace(self, **scaled, **capped)  # type: ignore[type-var]

    @optional
    def scaled(self, c: float) -> Loss:
        """Return the loss that has for c·Y and c·A B the value this one has for Y and A B."""
        raise self._lacks("scaled")

    @optional
    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return the gradient with respect to B."""
        raise self._lacks("gradient")

    @optional
    def quadratic(self, Y: Data, A: Array) -> tuple[Array, Array]:
        """Return (G, C) with loss ½⟨B, G B⟩ − ⟨C, B⟩ + loss at B = 0."""
        raise self._lacks("quadratic")

    @optional
    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Return the loss as a least-squares problem of the size of B."""
        raise self._lacks("reduced")

    @optional
    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, for multiplicative updates."""
        raise self._lacks("ratio")

    @optional
    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the loss as a CVXPY expression, convex in B."""
        raise self._lacks("expression")
