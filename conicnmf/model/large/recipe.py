"""What a strip needs to know to work by itself: the loss, the product, and the terms on H."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from conicnmf.model.addends import Chain, Fit
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.losses import Frobenius
from conicnmf.model.losses.weights import Unseen
from conicnmf.model.terms import Constraint, Loss, Penalty
from conicnmf.types import Array, Data, stored

_EQUAL = np.ones((1, 1))


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
        return StripOfFit(*of_strip(V, self.loss), self.chains, "V", self.zeros[k])

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


def without_weights(loss: Loss) -> Loss:
    """Return a loss whose weights are with the strips, and need not be sent."""
    return loss if getattr(loss, "weights", None) is None else _with_weights(loss, _EQUAL)


def of_strip(V: Any, loss: Loss) -> tuple[Data, Loss]:
    """Return the data of a strip, and the loss with the weights that came with them."""
    values = getattr(V, "values", V)
    if values is V or getattr(loss, "weights", None) is None:
        return values, loss
    some = stored(V.weights).any()
    return values, _with_weights(loss, V.weights if some else Unseen.of(V.shape[0]))


def some_samples(V: Any, chosen: Any) -> Any:
    """Return some samples of a strip."""
    values = getattr(V, "values", V)
    if values is V:
        return V[:, chosen]
    weights = V.weights if V.weights.shape[1] == 1 else V.weights[:, chosen]
    return type(V)(values[:, chosen], weights)


def _with_weights(loss: Loss, weights: Data) -> Loss:
    # Not by `replace`, which checks again: all entries of one strip may be missing.
    own = copy(loss)
    names = {field.name for field in fields(loss)}  # type: ignore[arg-type]
    kept = {name: X for name, X in vars(loss).items() if name in names}
    vars(own).clear()
    vars(own).update(kept, weights=weights)
    return own


def loss_of_strip(recipe: Recipe, W: Array, k: int, V: Data, H: Array) -> tuple[None, Any]:
    """Return the loss of a strip."""
    values, loss = of_strip(V, recipe.loss)
    return None, (loss.value(values, W, H),)


def squares_of_strip(loss: Loss, W: Array, k: int, V: Data, H: Array) -> tuple[None, Any]:
    """Return ‖V − W H‖² and ‖V‖² of a strip."""
    values, own = of_strip(V, loss)
    plain = own.squared or Frobenius()
    return None, (plain.value(values, W, H), plain.value(values, W, np.zeros_like(H)))


def zero_of_strip(loss: Loss, chains: tuple[Chain, ...], k: int, V: Data) -> tuple[None, Any]:
    """Return the loss of the zero model, in a list so that lists of all strips are joined."""
    return None, ([Fit(*of_strip(V, loss), chains).zero],)


def packed_grams(G: Array) -> Array:
    """Return the upper triangles of symmetric matrices, about half of their numbers."""
    rows, columns = np.triu_indices(G.shape[-1])
    return np.asarray(G[..., rows, columns])


def unpacked_grams(packed: Array, rank: int) -> Array:
    """Return the symmetric matrices whose upper triangles were packed.

    Examples
    --------
    >>> unpacked_grams(packed_grams(np.array([[1.0, 2.0], [2.0, 3.0]])), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    upper = np.triu_indices(rank)
    places = np.empty((rank, rank), dtype=np.intp)
    places[upper] = places.T[upper] = np.arange(len(upper[0]))
    return np.ascontiguousarray(packed[..., places])


def form_of_strip(
    recipe: Recipe, flipped: bool, form: str, args: tuple[Any, ...], k: int, V: Data, H: Array
) -> tuple[None, Any]:
    """Return a form of a strip's fit as a function of W, as numbers that add up."""
    view = recipe.fit(k, V).view("W", flipped, {"H": H})
    found = getattr(view, form)(*args)
    if form == "quadratic":
        return None, (found.G, found.C, found.constant)
    if form == "grams":
        return None, (packed_grams(found.G), found.C, found.constant)
    if form == "reduced":
        return None, found
    return None, found if isinstance(found, tuple) else (found,)
