"""The fit of data in strips: W sees sums over strips, H is fitted strip by strip."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from conicnmf.model.addends import Fit, Kind, View
from conicnmf.model.addends.majorizers import SeparableView
from conicnmf.model.digest import Digest, part
from conicnmf.model.hashing import hash_of
from conicnmf.model.large.recipe import (
    Recipe,
    form_of_strip,
    loss_of_strip,
    packed_grams,
    squares_of_strip,
    unpacked_grams,
    without_weights,
    zero_of_strip,
)
from conicnmf.model.terms import Quadratic, Reduced, Separable
from conicnmf.strips import Strips
from conicnmf.strips.asked import Asked
from conicnmf.strips.crew import added
from conicnmf.strips.tally import Combine
from conicnmf.types import Array, Data, Factors

_STEADY = frozenset({"quadratic", "grams", "reduced"})
"""The forms that are asked for once at each point."""
_SUMS = frozenset({"gradient", "quadratic", "grams", "reduced", "ratio"})
"""The forms of a loss in W that are sums over the samples."""


@dataclass(frozen=True, eq=False)
class Form:
    """A form of the loss as a function of W, to be added up over strips."""

    flipped: bool
    kind: str
    args: tuple[Any, ...]
    combine: Combine

    @property
    def name(self) -> Hashable:
        """By which the same form is found again."""
        return self.flipped, self.kind, repr(self.args) if self.kind in _STEADY else None


@dataclass(frozen=True, eq=False)
class StripFit(Fit):
    """The loss of data in strips against W H with H in strips."""

    @cached_property
    def recipe(self) -> Recipe:
        """What the strips need to know."""
        return Recipe(without_weights(self.loss), self.chains, self._zeros)

    @cached_property
    def _zeros(self) -> list[float]:
        work = partial(zero_of_strip, without_weights(self.loss), self.chains)
        (found,) = self.V.crew.run(work, self.V)
        return list(found)

    @cached_property
    def usual(self) -> dict[Hashable, Form]:
        """The forms in W that solvers have asked for, whatever the point."""
        return {}

    def asked(self, form: Form, H: Strips) -> Asked:
        """Ask for a form of the loss as a function of W."""
        work = partial(form_of_strip, self.recipe, form.flipped, form.kind, form.args)
        asked: Asked = self.V.crew.later(work, self.V, H, combine=form.combine)
        return asked

    def foresee(self, H: Strips) -> None:
        """Ask along for what was asked of points before this one, which is next."""
        for name, form in self.usual.items():
            H.note((self, name), self.asked(form, H))

    @cached_property
    def zero(self) -> float:
        """The sum of the losses of the zero model."""
        return float(sum(self._zeros))

    def value(self, factors: Factors) -> float:
        """Return the sum of the losses of all strips."""
        work = partial(loss_of_strip, self.recipe, factors["W"])
        (found,) = self.V.crew.run(work, self.V, factors["H"])
        return float(found)

    def restated(self, factors: Factors) -> float:
        """Return the same: there is no expression of the size of such data."""
        return self.value(factors)

    def squares(self, factors: Factors) -> tuple[float, float] | None:
        """Return ‖V − W H‖² and ‖V‖²."""
        if "reduced" in self.loss.abilities:
            return super().squares(factors)
        work = partial(squares_of_strip, without_weights(self.loss), factors["W"])
        (left, whole) = self.V.crew.run(work, self.V, factors["H"])
        return float(left), float(whole)

    def _forms_of(self, name: str) -> frozenset[str]:
        found = super()._forms_of(name)
        return found & _SUMS if name == "W" else found - {"expression"}

    def majorizers(self, name: str, kind: Kind) -> frozenset[str]:
        """Return the forms of majorizers; of those that need all data at once, W has none."""
        if kind == "scored" or (name == "W" and kind == "weighted"):
            return frozenset()
        if name == "W" and kind == "quadratic" and "quadratic" not in self.loss.abilities:
            return frozenset()
        return super().majorizers(name, kind)

    def view(self, name: str, flipped: bool, factors: Factors) -> Any:
        """Return the fit as a function of W."""
        assert name == "W", "H is seen strip by strip"
        return SumView(self, flipped, factors["H"])

    def digest(self) -> Digest:
        """Return a hash of all strips, the loss and the products."""
        (found,) = self.V.crew.run(_hash_of_strip, self.V)
        own = part(found, f"{self.V.shape[0]} × {self.V.shape[1]} {self.V.dtype} in strips")
        return {
            f"data {self.name}": own,
            f"loss of {self.name}": part(without_weights(self.loss)),
            f"model of {self.name}": part(self.chains, " + ".join(map(str, self.chains))),
        }


@dataclass(eq=False)
class SumView(View):
    """The fit as a function of W, whose forms are sums over strips."""

    fit: StripFit
    flipped: bool
    H: Any

    def _sum(self, form: str, *args: Any, combine: Combine = added) -> Any:
        assert isinstance(self.H, Strips)
        wanted = Form(self.flipped, form, args, combine)
        known = self.H.noted((self.fit, wanted.name))
        if known is not None and (self.H.scale is None or form in _SCALED):
            return known.total if self.H.scale is None else _SCALED[form](known.total, self.H.scale)
        found = self.fit.asked(wanted, self.H)
        if form in _STEADY:
            self.fit.usual[wanted.name] = wanted
        return found.total

    @property
    def at_zero(self) -> float:
        """The loss of the zero model."""
        return self.fit.zero

    @cached_property
    def _quadratic(self) -> Quadratic:
        return Quadratic(*self._sum("quadratic"))

    def quadratic(self) -> Quadratic:
        """Return the sum of the Gram matrices and of the correlations."""
        return self._quadratic

    def value(self, B: Array) -> float:
        """Return the loss, from residuals."""
        return float(self._sum("value", B)[0])

    def gradient(self, B: Array) -> Array:
        """Return the gradient, from the Gram matrix where there is one."""
        if "quadratic" in self.fit.loss.abilities:
            return self._quadratic.G @ B - self._quadratic.C
        found: Array = self._sum("gradient", B)[0]
        return found

    def grams(self, columns: slice) -> Quadratic:
        """Return the sums of the Gram matrices of some features."""
        packed, C, constant = self._sum("grams", columns)
        return Quadratic(unpacked_grams(packed, self.H.shape[0]), C, constant)

    def ratio(self, B: Array) -> tuple[Array, Array]:
        """Return the sums of the two parts of the gradient."""
        down, up = self._sum("ratio", B)
        return down, up

    def reduced(self) -> Reduced:
        """Return the least squares of all strips, reduced together as soon as there are two."""
        found: Reduced = self._sum("reduced", combine=_reduced_together)
        return found

    def majorized(self, B: Array, kind: Kind) -> View:
        """Return a sum over entries, or the quadratic itself."""
        if kind == "quadratic":
            return self
        if kind == "separable":
            bound = Separable.of(B, *self.ratio(B), self.fit.loss.powers)
            return SeparableView(self, bound)
        return super().majorized(B, kind)

    @property
    def curvature(self) -> float:
        """Twice the squared norm of H, from its rows."""
        return 2 * float(self.H.squares.sum())


def _quadratic_of_multiple(found: Any, scale: Array) -> Any:
    G, C, constant = found
    return G * scale * scale.T, C * scale, constant


def _grams_of_multiple(found: Any, scale: Array) -> Any:
    packed, C, constant = found
    return packed * packed_grams(scale * scale.T), C * scale, constant


_SCALED = {"quadratic": _quadratic_of_multiple, "grams": _grams_of_multiple}
"""How forms change where each row of H is multiplied by a number."""


def _reduced_together(one: Reduced, other: Reduced) -> Reduced:
    return Reduced.added([one, other])


def _hash_of_strip(k: int, V: Data) -> tuple[None, Any]:
    values = getattr(V, "values", V)
    return None, ([hash_of(values) if values is V else hash_of((values, V.weights))],)
