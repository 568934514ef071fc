"""Views that share a factor as one stack, known by its products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.addends import Chain, Fit, Ref
from conicnmf.model.losses.frobenius import squared_norm
from conicnmf.model.problem import Problem
from conicnmf.solve.starts.offsets import column_squares
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False)
class _View:
    """A view with the shared factor on its right: data, the factor on its left, its weight."""

    rest: Any
    left: Ref
    weight: float
    name: str


@dataclass(frozen=True, eq=False)
class _Stacked:
    """The views below each other, each times its weight."""

    parts: tuple[tuple[Any, float], ...]
    shape: tuple[int, int]

    @property
    def T(self) -> _Beside:
        """The transposed stack."""
        return _Beside(self)

    def __matmul__(self, X: Array) -> Array:
        """Return the product with a matrix."""
        return np.vstack([weight * np.asarray(rest @ X) for rest, weight in self.parts])

    def column_squares(self) -> Array:
        """Return the squared norm of each column."""
        found: Array = sum(
            (weight**2 * column_squares(rest) for rest, weight in self.parts),
            np.zeros(self.shape[1]),
        )
        return found


@dataclass(frozen=True, eq=False)
class _Beside:
    """The transposed stack."""

    stack: _Stacked

    @property
    def shape(self) -> tuple[int, int]:
        """The transposed shape."""
        return self.stack.shape[1], self.stack.shape[0]

    @property
    def T(self) -> _Stacked:
        """The stack."""
        return self.stack

    def __matmul__(self, X: Array) -> Array:
        """Return the product with a matrix."""
        total, at = np.zeros((self.shape[0], X.shape[1])), 0
        for rest, weight in self.stack.parts:
            rows = rest.shape[0]
            total += weight * np.asarray(rest.T @ X[at : at + rows])
            at += rows
        return total


@dataclass(frozen=True, eq=False)
class Stack:
    """What the SVD is taken of, and how its parts become variables."""

    operator: Any
    views: tuple[_View, ...]
    shared: Ref
    sizes: dict[str, int]
    middle: frozenset[str]
    nonneg: frozenset[str]
    dtype: Any

    @property
    def rank(self) -> int:
        """The largest number of components of a variable at an end."""
        return max(self.sizes.values())

    @property
    def nonneg_left(self) -> bool:
        """Whether all variables on the left are asked to be non-negative."""
        return self.nonneg.issuperset(view.left.name for view in self.views)

    @property
    def nonneg_shared(self) -> bool:
        """Whether the shared variable is asked to be non-negative."""
        return self.shared.name in self.nonneg

    def split(self, W: Array, H: Array) -> Factors:
        """Return the variables at the ends of the products."""
        found, at = {}, 0
        for view in self.views:
            rows = view.rest.shape[0]
            own = W[at : at + rows, : self.sizes[view.left.name]] / view.weight
            found[view.left.name] = own.T if view.left.flipped else own
            at += rows
        own = H[: self.sizes[self.shared.name]]
        return found | {self.shared.name: own.T if self.shared.flipped else own}


def stack_of(problem: Problem, rests: list[tuple[Fit, Any]]) -> Stack:
    """Return the stack of all fits, which must share a factor where there are several."""
    chains = [_main(fit) for fit, _ in rests]
    if not chains:
        raise InputError(
            "the start is made from data, and the problem has none; use Random() instead"
        )
    ends = [{chain.names[0], chain.names[-1]} for chain in chains]
    common = set.intersection(*ends)
    if not common:
        listed = "; ".join(str(fit) for fit, _ in rests)
        raise InputError(
            f"the start needs views that share a factor at an end, got {listed}; use Random() instead"
        )
    last = chains[0].names[-1]
    name = last if last in common else min(common)
    views, shared = [], None
    total = sum(squared_norm(fit.V) for fit, _ in rests)
    for (fit, rest), chain in zip(rests, chains, strict=True):
        # A number before a product is a part of the data's unit.
        rest = rest if chain.scale == 1 else rest / chain.scale
        left, right = chain.factors[0], chain.factors[-1]
        assert isinstance(left, Ref)
        assert isinstance(right, Ref)
        if right.name != name:  # the shared factor stands on the left: look at the transpose
            rest = rest.T
            left, right = (Ref(ref.name, not ref.flipped) for ref in (right, left))
        if shared is not None and shared.flipped != right.flipped:
            raise InputError(
                f"the start needs {name} in the same orientation everywhere; use Random()"
            )
        shared = right
        weight = 1.0 if len(rests) == 1 else _weight(fit, total)
        views.append(_View(rest, left, weight, fit.name))
    assert shared is not None
    ends_named = {name, *(view.left.name for view in views)}
    blocks = {block.name: block for block in problem.blocks}
    sizes = {name: blocks[name].shape[0] for name in ends_named}
    inner = frozenset(name for chain in chains for name in chain.names[1:-1])
    nonneg = frozenset(name for name in ends_named if blocks[name].nonneg)
    return Stack(_operator(views), tuple(views), shared, sizes, inner, nonneg, problem.dtype)


def _operator(views: list[_View]) -> Any:
    if len(views) == 1:
        return views[0].rest
    rows = sum(view.rest.shape[0] for view in views)
    parts = tuple((view.rest, view.weight) for view in views)
    return _Stacked(parts, (rows, views[0].rest.shape[1]))


def _weight(fit: Fit, total: float) -> float:
    """Return the root of what the loss multiplies squares by, seen from its value at zero."""
    size = squared_norm(fit.V)
    return float(np.sqrt(fit.zero / size)) if size > 1e-14 * total and fit.zero > 0 else 1.0


def _main(fit: Fit) -> Chain:
    """Return the product of a fit, which must have variables only."""
    products = [chain for chain in fit.chains if len(chain.names) > 1]
    plain = len(products) == 1 and all(
        isinstance(factor, Ref) and factor.mask is None for factor in products[0].factors
    )
    if not plain or len(products[0].names) > 3 or products[0].scale <= 0:
        raise InputError(
            f"the start needs products of two or three variables, got {fit}; use Random() instead"
        )
    return products[0]
