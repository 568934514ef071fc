"""Addends kept as the user's CVXPY expression: convex in each variable with the others held."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.addends.base import Addend, View
from conicnmf.model.addends.fit import Fit
from conicnmf.model.evaluate import evaluate
from conicnmf.types import Array, Factors


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
        zeros = {
            name: np.zeros(v.shape[::-1] if flipped else v.shape)
            for name, (v, flipped) in self.sources.items()
        }
        value = evaluate(self.stated(zeros))
        return value if np.isfinite(value) else 0.0

    def abilities(self, name: str) -> frozenset[str]:
        """Return that CVXPY knows the expression, and nothing else does."""
        return frozenset({"expression"})

    def view(self, name: str, flipped: bool, factors: Factors) -> CouplingView:
        """Return the expression as a function of one variable."""
        return CouplingView(self, name, flipped, factors)

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
