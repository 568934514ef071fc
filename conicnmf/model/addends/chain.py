"""Products of variables and constants, such as W H, D W H, W S H and b 1ᵀ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False)
class Ref:
    """A variable in a product: transposed when `flipped`, times `mask` entry by entry."""

    name: str
    flipped: bool = False
    mask: Array | None = None

    def at(self, factors: dict[str, Any]) -> Any:
        """Return the variable as it appears in the product."""
        X = factors[self.name]
        X = X.T if self.flipped else X
        return X if self.mask is None else _masked(self.mask, X)

    def __str__(self) -> str:
        shown = f"{self.name}ᵀ" if self.flipped else self.name
        return shown if self.mask is None else f"(M ∘ {shown})"


def _masked(mask: Array, X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return mask * X
    import cvxpy as cp

    return cp.multiply(mask, X)


@dataclass(frozen=True, eq=False)
class Chain:
    """A product of variables, each of them once, and constant matrices.

    Examples
    --------
    >>> import numpy as np
    >>> print(Chain((Ref("W"), Ref("S"), Ref("H"))), Chain((Ref("b"), np.ones((1, 4)))))
    W S H b 1ᵀ
    """

    factors: tuple[Ref | Array, ...]
    scale: float = 1.0

    def __str__(self) -> str:
        product = " ".join(_shown(factor) for factor in self.factors)
        return product if self.scale == 1 else f"{self.scale:g} {product}"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, from left to right."""
        return tuple(factor.name for factor in self.factors if isinstance(factor, Ref))

    @property
    def is_bare(self) -> bool:
        """Whether it is a product of variables and nothing else, some of them turned perhaps."""
        return self.scale == 1 and all(
            isinstance(own, Ref) and own.mask is None for own in self.factors
        )

    @property
    def is_plain(self) -> bool:
        """Whether it is a product of variables as they are."""
        return self.is_bare and not any(
            isinstance(own, Ref) and own.flipped for own in self.factors
        )

    def around(self, place: int, factors: Factors) -> tuple[Array | None, Array | None]:
        """Return what stands to the left and to the right of a place, nothing where nothing does."""
        left = _product([_at(factor, factors) for factor in self.factors[:place]])
        right = _product([_at(factor, factors) for factor in self.factors[place + 1 :]])
        if self.scale == 1:
            return left, right
        if left is None and right is None:
            rows = np.shape(_at(self.factors[place], factors))[0]
            return self.scale * np.eye(rows), None
        if right is not None:
            return left, self.scale * right
        assert left is not None
        return self.scale * left, None

    def pair(self, factors: Factors) -> tuple[Array, Array]:
        """Return two matrices whose product is the chain, cut where it is narrowest."""
        values = [_at(factor, factors) for factor in self.factors]
        if len(values) == 1:
            X = values[0]
            return X, self.scale * np.eye(X.shape[1], dtype=X.dtype)
        if len(values) == 2 and self.scale == 1:
            return values[0], values[1]
        cut = 1 + min(range(len(values) - 1), key=lambda k: int(values[k].shape[1]))
        left, right = _product(values[:cut]), _product(values[cut:])
        assert left is not None
        assert right is not None
        return left, right if self.scale == 1 else self.scale * right

    def stated(self, values: dict[str, Any]) -> Any:
        """Return the product of CVXPY expressions or arrays."""
        product = reduce(lambda X, Y: X @ Y, [_at(factor, values) for factor in self.factors])
        return product if self.scale == 1 else self.scale * product


def _at(factor: Ref | Array, values: dict[str, Any]) -> Any:
    return factor.at(values) if isinstance(factor, Ref) else factor


def _product(values: Sequence[Array]) -> Array | None:
    """Return the product from the narrow end, or nothing for nothing."""
    if not values:
        return None
    if len(values) == 1:
        return values[0]
    return np.asarray(np.linalg.multi_dot(values))


def _shown(factor: Ref | Array) -> str:
    if isinstance(factor, Ref):
        return str(factor)
    if (np.asarray(factor) == 1).all() and 1 in factor.shape:
        return "1ᵀ" if factor.shape[0] == 1 else "1"
    return f"C({factor.shape[0]} × {factor.shape[1]})"
