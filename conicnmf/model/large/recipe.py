"""What a strip needs to know to work by itself: the loss, the product, and the terms on H."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conicnmf.model.addends import Chain, Fit
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Constraint, Loss, Penalty
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False)
class StripOfFit(Fit):
    """The fit of one strip, whose loss at zero is known."""

    at_zero: float = 0.0

    @property
    def zero(self) -> float:
        """The loss of the zero model."""
        return self.at_zero


@dataclass(frozen=True, eq=False)
class Recipe:
    """The problem of one strip; it is sent to where the strips are."""

    loss: Loss
    chains: tuple[Chain, ...]
    zeros: Sequence[float]

    def fit(self, k: int, V: Data) -> Fit:
        """Return the fit of strip k."""
        return StripOfFit(V, self.loss, self.chains, "V", self.zeros[k])

    def held(
        self,
        k: int,
        V: Data,
        W: Array,
        block: tuple[tuple[Constraint, ...], tuple[Penalty, ...], bool],
    ) -> Subproblem:
        """Return the block of H on strip k, with W held."""
        constraints, penalties, nonneg = block
        shape = (W.shape[1], V.shape[1])
        own = Block(
            "H", shape, False, (self.fit(k, V),), constraints, penalties, nonneg_around=nonneg
        )
        return own.given({"W": W})


def loss_of_strip(recipe: Recipe, W: Array, k: int, V: Data, H: Array) -> tuple[None, Any]:
    """Return the loss of a strip."""
    return None, (recipe.loss.value(V, W, H),)


def zero_of_strip(loss: Loss, chains: tuple[Chain, ...], k: int, V: Data) -> tuple[None, Any]:
    """Return the loss of the zero model, in a list so that lists of all strips are joined."""
    return None, ([Fit(V, loss, chains).zero],)


def form_of_strip(
    recipe: Recipe, flipped: bool, form: str, args: tuple[Any, ...], k: int, V: Data, H: Array
) -> tuple[None, Any]:
    """Return a form of a strip's fit as a function of W, as numbers that add up."""
    view = recipe.fit(k, V).view("W", flipped, {"H": H})
    found = getattr(view, form)(*args)
    if form in ("quadratic", "grams"):
        return None, (found.G, found.C, found.constant)
    if form == "reduced":
        return None, found
    return None, found if isinstance(found, tuple) else (found,)
