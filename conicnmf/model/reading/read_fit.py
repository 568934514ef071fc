"""What a part of an objective says of data, and its way from the form in which it was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import scipy.sparse as sp
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.norm1 import norm1

from conicnmf.model.losses import Frobenius, WeightedFrobenius
from conicnmf.model.losses.entrywise import Entrywise
from conicnmf.model.reading.chains import ReadChain
from conicnmf.model.reading.residual import Residual, read_residual
from conicnmf.model.reading.values import weighted_by
from conicnmf.types import Data, stored

ReadLoss = Frobenius | WeightedFrobenius | Entrywise
Made = Callable[[float, Data | None], ReadLoss]
"""Makes a loss from the unit of the products and from weights."""


@dataclass(frozen=True, eq=False)
class ReadFit:
    """What a part of an objective says: loss(V, Σ chains) + offset."""

    chains: tuple[ReadChain, ...]
    V: Any
    loss: ReadLoss
    offset: float = 0.0

    @property
    def variables(self) -> list[cp.Variable]:
        """The variables from left to right, each once."""
        found = {ref.variable.id: ref.variable for chain in self.chains for ref in chain.refs}
        return list(found.values())


def entries_of(part: cp.Expression) -> tuple[Data | None, cp.Expression] | None:
    """Return (M, x) when a part is the sum over all entries of M ∘ x, no M for ones.

    Examples
    --------
    >>> X = cp.Variable((2, 2), name="X")
    >>> str(entries_of(cp.norm1(X))[1])
    'abs(X)'
    """
    if isinstance(part, norm1) and part.axis is None:
        return None, cp.abs(part.args[0])
    if not isinstance(part, Sum):
        return None
    inner, weights = part.args[0], None
    while isinstance(inner, Sum):
        inner = inner.args[0]
    while (weighted := weighted_by(inner)) is not None:
        weights = weighted[0] if weights is None else weights * weighted[0]
        inner = weighted[1]
    return weights, inner


def read_model(expression: cp.Expression) -> Residual | None:
    """Return a sum of products without data and weights, nothing for something else."""
    found = read_residual(expression)
    plain = found is not None and found.V is None and found.weights is None and found.rest is None
    return found if plain else None


def unit_of(residual: Residual) -> float:
    """Return what the products are multiplied by where the first of them has no factor."""
    return residual.scale * residual.products[0].scale


def fitted(
    residual: Residual, V: Data, weights: Data | None, make: Made, offset: float = 0.0
) -> ReadFit | None:
    """Return a loss of V against the products of a residual, all in their shape.

    V is in the unit of the products. `make` gets that unit, and weights where they differ.
    """
    unit, chains = unit_of(residual), residual.products
    chains = tuple(chain.times(1 / chains[0].scale) for chain in chains)
    if weights is not None and stored(weights).min(initial=0.0) < 0:
        return None
    if all(ref.flipped for chain in chains for ref in chain.refs):
        V, chains = _turned(V), tuple(chain.transposed() for chain in chains)
        weights = None if weights is None else _turned(weights)
    return ReadFit(chains, V, make(unit, weights), offset)


def _turned(X: Data) -> Data:
    return X.T.tocsr() if sp.issparse(X) else X.T
