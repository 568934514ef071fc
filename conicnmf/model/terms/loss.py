"""Losses: how far a model is from the data."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.terms.base import Term, optional
from conicnmf.model.terms.forms import Quadratic, Reduced
from conicnmf.types import Array, Data, Mask


class Loss(Term):
    """How far A B is from the data Y; it may be asked to stay at or below `cap`."""

    cap: float = np.inf

    @property
    def degree(self) -> float:
        """The power of c with which the loss grows when data and model are multiplied by c."""
        return 2.0

    @property
    def powers(self) -> tuple[float, float]:
        """The exponents (p, q), p ≥ 0 ≥ q, with which `ratio` bounds the loss: see `Separable`."""
        return 1.0, 0.0

    @property
    def squared(self) -> Loss | None:
        """Squares with the weights of this loss, for relative errors; none for equal weights."""
        return None

    @property
    def evenness(self) -> float:
        """The mean of the weights on squares over the largest: one where all entries weigh the same."""
        return 1.0

    @property
    def convex(self) -> bool:
        """Whether the loss is convex in B."""
        return True

    @property
    def plainest(self) -> Loss:
        """The same loss in the form that most methods take."""
        return self

    def check_data(self, Y: Data, name: str = "V") -> None:
        """Raise an `InputError` when the loss cannot judge such data; `name` is what to call them."""

    def remark(self, nonneg: bool) -> str:
        """Return what to know about the loss, given whether the model is non-negative."""
        return ""

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
    def grams(self, Y: Data, A: Array, columns: slice) -> tuple[Array, Array]:
        """Return the same for some columns, with a matrix G for each of them."""
        raise self._lacks("grams")

    @optional
    def poisson(self, Y: Data) -> tuple[Data, Data]:
        """Return (N, M) with loss Σ M ∘ (A B) − Σ N ∘ log(A B) + constant, for A, B ≥ 0.

        M has the shape of the data, or one number for each row, each column or all.
        """
        raise self._lacks("poisson")

    @optional
    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Return the loss as a least-squares problem of the size of B."""
        raise self._lacks("reduced")

    @optional
    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, for multiplicative updates.

        With p, q from `powers` the sum of P·b̃·φ_{p+1}(b/b̃) − N·b̃·φ_{q+1}(b/b̃) over the entries b,
        φ_e(t) = (t^e − 1)/e, lies above the growth of the loss from B = b̃ on, for A, B, Y ≥ 0.
        """
        raise self._lacks("ratio")

    @optional
    def majorize(self, Y: Data, A: Array, B: Array) -> Quadratic:
        """Return a quadratic that touches the loss at B and lies nowhere below it."""
        raise self._lacks("majorize")

    @optional
    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the loss as a CVXPY expression, convex in B."""
        raise self._lacks("expression")

    @optional
    def masked(self, observed: Mask) -> Loss:
        """Return the same loss over the entries that are observed."""
        raise self._lacks("masked")

    @optional
    def reweigh(self, Y: Data, A: Array, B: Array) -> Loss:
        """Return weighted squares that, up to a constant, touch the loss at B and lie above it."""
        raise self._lacks("reweigh")

    @optional
    def score(self, Y: Data, A: Array, B: Array) -> Loss:
        """Return weighted squares with the gradient of the loss at B, as Fisher scoring has them."""
        raise self._lacks("score")

    @optional
    def smoothed(self, Y: Data, A: Array, B: Array, part: float) -> Loss:
        """Return a smooth loss, the closer to one with kinks the smaller a part of the mean residual.

        It differs where residuals are below that part of their mean at B, and by less than they are.
        """
        raise self._lacks("smoothed")
