"""Addends kept as the user's CVXPY expression: convex in each variable with the others held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression

from conicnmf.model.addends.base import Addend, View
from conicnmf.model.addends.fit import Fit
from conicnmf.model.evaluate import evaluate
from conicnmf.types import Array, Data, Factors

_ROUNDING = 1e-9
_FAR = (1.0, 2.0**-10, 2.0**10, 2.0**30)
"""Sizes at which a form is looked at: one that bends somewhere is no power of its data."""


@dataclass(frozen=True, eq=False)
class Coupling(Addend):
    """A CVXPY expression over the user's variables, convex in each of them.

    Parameters
    ----------
    form : cvxpy.Expression
    sources : dict of str to (cvxpy.Variable, bool)
        The user's variable of each name, and whether it is the transpose of what the name holds.
    fit : Fit, optional
        What the expression compares, where that was found: its errors are reported.
    name : str
        What the data are called.
    text : str
        The expression in short.
    """

    form: cp.Expression
    sources: dict[str, tuple[cp.Variable, bool]]
    fit: Fit | None = None
    name: str = "coupling"
    text: str = ""

    def __str__(self) -> str:
        return self.text or str(self.form)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.sources)

    def stated(self, values: dict[str, Any]) -> cp.Expression:
        """Put values in the places of the user's variables."""
        places = {}
        for name, (variable, flipped) in self.sources.items():
            X = values[name]
            X = X if isinstance(X, cp.Expression) else cp.Constant(X)
            places[id(variable)] = X.T if flipped else X
        return self.form.tree_copy(places)

    def value(self, factors: Factors) -> float:
        """Evaluate the user's expression."""
        return evaluate(self.stated(factors))

    @cached_property
    def zero(self) -> float:
        """The expression at zero, where it is defined there."""
        zeros = {name: np.zeros(self._shape(name)) for name in self.sources}
        value = evaluate(self.stated(zeros))
        return value if np.isfinite(value) else 0.0

    def abilities(self, name: str) -> frozenset[str]:
        """Return that CVXPY knows the expression, and nothing else does."""
        return frozenset({"expression"})

    def view(self, name: str, flipped: bool, factors: Factors) -> CouplingView:
        """Return the expression as a function of one variable."""
        return CouplingView(self, name, flipped, factors)

    def in_units(self, powers: Mapping[str, int], size: int) -> tuple[cp.Expression, int] | None:
        """Return the form in other units, and the power of two that it is to be multiplied by.

        Variables and data are those of the user divided by powers of two, `size` that of the data.
        Parts that are added must each be a multiple of what they were, else nothing is returned.
        """
        data = None if self.fit is None or not size else self.fit.V
        parts = self.form.args if isinstance(self.form, AddExpression) else [self.form]
        made = [self._part_in_units(part, data, powers, size) for part in parts]
        found = [own for own in made if own is not None]
        if len(found) < len(parts):
            return None
        least = found[0][1]
        return sum(2.0 ** (power - least) * part for part, power in found), least

    def _part_in_units(
        self, part: cp.Expression, data: Data | None, powers: Mapping[str, int], size: int
    ) -> tuple[cp.Expression, int] | None:
        """Return one part of a sum in other units, checked at random points near and far."""
        places = {}
        for constant in part.constants() if data is not None else []:
            if _is_data(constant.value, data):
                places[id(constant)] = cp.Constant(constant.value * 2.0**-size)
        made = part.tree_copy(places)
        rng = np.random.default_rng(0)
        seen = set()
        for far in _FAR:
            inside = {name: far * (0.1 + rng.random(self._shape(name))) for name in self.sources}
            outside = {name: 2.0 ** powers[name] * X for name, X in inside.items()}
            one = evaluate(replace(self, form=made).stated(inside))
            whole = evaluate(replace(self, form=part).stated(outside))
            if not (one and np.isfinite(one) and np.isfinite(whole) and whole):
                return None
            power = round(math.log2(abs(whole / one)))
            if not math.isclose(whole, one * 2.0**power, rel_tol=_ROUNDING):
                return None
            seen.add(power)
        return (made, seen.pop()) if len(seen) == 1 else None

    def _shape(self, name: str) -> tuple[int, ...]:
        variable, flipped = self.sources[name]
        shape: tuple[int, ...] = variable.shape
        return shape[::-1] if flipped else shape

    def squares(self, factors: Factors) -> tuple[float, float] | None:
        """Return ‖V − model‖² and ‖V‖² where the data were found."""
        if self.fit is None or set(self.fit.variables) != set(self.variables):
            return None  # an offset added to the product, say, is a part of what is compared
        L, R = self.fit.model(factors)
        # What is compared may be a function of the variables, with a shape of its own.
        fits = (L.shape[0], R.shape[1]) == self.fit.V.shape
        return self.fit.squares(factors) if fits else None


@dataclass(frozen=True, eq=False)
class CouplingView(View):
    """The expression with all variables but one held."""

    coupling: Coupling
    name: str
    flipped: bool
    factors: Factors

    def value(self, B: Array) -> float:
        """Evaluate the user's expression."""
        return self.coupling.value({**self.factors, self.name: B.T if self.flipped else B})

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the user's expression of B."""
        values: dict[str, Any] = {**self.factors, self.name: B.T if self.flipped else B}
        return self.coupling.stated(values)


def _is_data(value: Any, V: Data) -> bool:
    """Whether a constant holds the data, their negative or their transpose."""
    ways = [X for X in (value, value.T) if X.shape == V.shape]
    return any(abs(X - sign * V).max() == 0 for X in ways for sign in (1, -1))
