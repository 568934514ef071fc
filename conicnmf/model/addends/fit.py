"""Fits: data compared by a loss with a sum of products of variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.model.addends.base import Addend, Kind
from conicnmf.model.addends.chain import Chain, Ref
from conicnmf.model.addends.fit_view import FitView
from conicnmf.model.addends.majorizers import QUADRATIC, SEPARABLE, WEIGHTED
from conicnmf.model.digest import Digest, part
from conicnmf.model.evaluate import evaluate
from conicnmf.model.losses import Frobenius
from conicnmf.model.names import End
from conicnmf.model.terms import Loss
from conicnmf.types import Array, Data, Factors

_ONE_SIDED = {"quadratic", "grams", "poisson", "reduced"}
"""Forms in which columns of B do not mix."""


_KNOWN: ContextVar[dict[Any, tuple[float, Any]] | None] = ContextVar("known", default=None)


@contextmanager
def each_value_once() -> Iterator[None]:
    """Compute the loss of a fit once inside, where no factor is changed: each costs a pass over V."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


@dataclass(frozen=True, eq=False)
class Fit(Addend):
    """The loss of V against the sum of the chains.

    Examples
    --------
    >>> import numpy as np
    >>> W, H = np.ones((3, 1)), np.ones((1, 2))
    >>> fit = Fit(np.eye(3, 2), Frobenius(), (Chain((Ref("W"), Ref("H"))),))
    >>> fit.value({"W": W, "H": H}), str(fit)
    (4.0, 'V (3 × 2) ≈ W H')
    """

    V: Data
    loss: Loss
    chains: tuple[Chain, ...]
    name: str = "V"

    def __str__(self) -> str:
        rows, columns = self.V.shape
        return f"{self.name} ({rows} × {columns}) ≈ {' + '.join(map(str, self.chains))}"

    @property
    def cap(self) -> float:
        """The most that the loss may be."""
        return self.loss.cap

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of all chains, each once."""
        return tuple(dict.fromkeys(name for chain in self.chains for name in chain.names))

    @cached_property
    def _turned(self) -> tuple[Data, Loss]:
        """The data and the loss of the transposed model."""
        return self.V.T, self.loss.transposed()

    def model(self, factors: Factors) -> tuple[Array, Array]:
        """Return (L, R) whose product is the model."""
        pairs = [chain.pair(factors) for chain in self.chains]
        if len(pairs) == 1:
            return pairs[0]
        return np.hstack([L for L, _ in pairs]), np.vstack([R for _, R in pairs])

    @property
    def ends(self) -> tuple[End, ...]:
        """Which sides of variables are features or samples: those at the two ends of products."""
        outer = [(chain.factors[place], -place) for chain in self.chains for place in (0, -1)]
        return tuple(
            End(self.name, of, ref.name, of ^ ref.flipped)
            for ref, of in outer
            if isinstance(ref, Ref)
        )

    def value(self, factors: Factors) -> float:
        """Return the loss."""
        return self._once("loss", self.loss, factors)

    def _once(self, name: str, loss: Loss, factors: Factors) -> float:
        """Return a loss of the model, which inside `each_value_once` is not computed again."""
        known = _KNOWN.get()
        if known is None:
            return loss.value(self.V, *self.model(factors))
        own = tuple(factors[name] for name in self.variables)
        key = (id(self), name, *map(id, own))
        if key not in known:  # the arrays are kept, so that no other gets their ids
            known[key] = loss.value(self.V, *self.model(factors)), (self, own)
        return known[key][0]

    def restated(self, factors: Factors) -> float:
        """Return the loss from CVXPY's expression, where that would not copy sparse data."""
        if sp.issparse(self.V) or "expression" not in self.loss.abilities:
            return self.value(factors)
        return evaluate(self.loss.expression(self.V, *self.model(factors)))

    @cached_property
    def zero(self) -> float:
        """The loss of the zero model, or of a constant one where that is infinite."""
        m, n = self.V.shape
        at_zero = self.loss.value(self.V, np.zeros((m, 1)), np.zeros((1, n)))
        if np.isfinite(at_zero):
            return at_zero
        mean = float(abs(self.V).sum()) / (m * n)
        return self.loss.value(self.V, np.full((m, 1), mean), np.ones((1, n)))

    def squares(self, factors: Factors) -> tuple[float, float] | None:
        """Return ‖V − model‖² and ‖V‖², over the weighted entries where there are weights."""
        # A loss that reduces to least squares is itself a sum of (weighted) squares.
        if "reduced" in self.loss.abilities:
            scale = getattr(self.loss, "scale", 1.0)  # how much it counts is no part of the error
            return self.value(factors) / scale, self.zero / scale
        plain = self.loss.squared or Frobenius()
        return self._once("squares", plain, factors), self._size

    @cached_property
    def _size(self) -> float:
        """‖V‖², over the weighted entries where there are weights."""
        m, n = self.V.shape
        zero = np.zeros((m, 1)), np.zeros((1, n))
        return (self.loss.squared or Frobenius()).value(self.V, *zero)

    @cached_property
    def _places(self) -> dict[str, tuple[Chain, int, Ref]]:
        return {
            factor.name: (chain, at, factor)
            for chain in self.chains
            for at, factor in enumerate(chain.factors)
            if isinstance(factor, Ref)
        }

    def place(self, name: str) -> tuple[Chain, int, Ref]:
        """Return the chain of a variable, its place there and how it stands there."""
        return self._places[name]

    def is_end(self, name: str) -> bool:
        """Whether a variable is the first or the last of its product."""
        chain, at, _ = self.place(name)
        return at in (0, len(chain.factors) - 1)

    @cached_property
    def _forms(self) -> dict[str, frozenset[str]]:
        return {name: self._forms_of(name) for name in self.variables}

    def abilities(self, name: str) -> frozenset[str]:
        """Return the forms of the loss that exist for this place in the product."""
        return self._forms[name]

    def _forms_of(self, name: str) -> frozenset[str]:
        # Entries of a quadratic may mix as they like once all of them are seen as one column.
        whole = {"vectorized"} if "quadratic" in self.loss.abilities else set()
        found = self.loss.abilities - self._missing(name)
        # One Gram matrix for all columns is one for each.
        return found | whole | ({"grams"} if "quadratic" in found else set())

    def _missing(self, name: str) -> set[str]:
        """Return the forms that a variable in this place cannot have."""
        missing = set() if self.is_end(name) else _ONE_SIDED
        return missing if self.place(name)[2].mask is None else missing | {"quadratic", "poisson"}

    def majorizers(self, name: str, kind: Kind) -> frozenset[str]:
        """Return the forms of majorizers, where the loss has such."""
        if kind == "separable":
            return SEPARABLE if "ratio" in self.loss.abilities else frozenset()
        if kind == "scored" and sp.issparse(self.V):
            return frozenset()  # their weights are those of the model, which is dense
        by, forms = {
            "quadratic": ({"majorize", "quadratic"}, QUADRATIC),
            "weighted": ({"reweigh", "reduced"}, WEIGHTED),
            "scored": ({"score", "reduced"}, WEIGHTED),
        }[kind]
        return forms - self._missing(name) if by & self.loss.abilities else frozenset()

    @cached_property
    def nonneg_constants(self) -> bool:
        """Whether no constant in the products has a negative entry."""
        refs = [factor for chain in self.chains for factor in chain.factors]
        fixed = [ref.mask if isinstance(ref, Ref) else ref for ref in refs]
        return all(chain.scale >= 0 for chain in self.chains) and all(
            X is None or bool((X >= 0).all()) for X in fixed
        )

    def view(self, name: str, flipped: bool, factors: Factors) -> FitView:
        """Return the fit as a function of one variable."""
        chain, at, ref = self.place(name)
        left, right = chain.around(at, factors)
        others = [other.pair(factors) for other in self.chains if other is not chain]
        turned = ref.flipped != flipped
        Y, loss, mask = self.V, self.loss, ref.mask
        if turned:
            Y, loss = self._turned
            left, right = (None if X is None else X.T for X in (right, left))
            others = [(R.T, L.T) for L, R in others]
            mask = None if mask is None else mask.T
        return FitView(loss, Y, left, right, _joined(others), mask, self.zero)

    def digest(self) -> Digest:
        """Return the data, the loss and the products."""
        model = " + ".join(map(str, self.chains))
        return {
            f"data {self.name}": part(self.V),
            f"loss of {self.name}": part(self.loss),
            f"model of {self.name}": part(self.chains, model),
        }

    def stated(self, values: dict[str, Any]) -> cp.Expression:
        """Return the literal loss of all variables."""
        if len(self.chains) == 1 and len(self.chains[0].factors) == 2 and self.chains[0].scale == 1:
            left, right = self.chains[0].factors
            A = left.at(values) if isinstance(left, Ref) else left
            B = right.at(values) if isinstance(right, Ref) else right
            return self.loss.expression(self.V, A, B)
        model = sum(chain.stated(values) for chain in self.chains)
        return self.loss.expression(self.V, np.eye(self.V.shape[0]), model)


def _joined(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array] | None:
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    return np.hstack([L for L, _ in pairs]), np.vstack([R for _, R in pairs])
