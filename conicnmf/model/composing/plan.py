"""What the texts of several approximations say together: variables, their sizes and constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.composing.approx import Approx
from conicnmf.model.composing.sizes import Side, Sizes, shown
from conicnmf.model.composing.text import ONES, Product, Symbol
from conicnmf.types import Array
from conicnmf.validate import as_matrix, as_numbers, as_rank


@dataclass(frozen=True, eq=False)
class _Named:
    """An approximation with a name that no other has."""

    name: str
    V: Any
    loss: Any
    model: str
    products: tuple[Product, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """Variables by name and whether their components are columns; `offsets` multiply ones."""

    approximations: tuple[_Named, ...]
    variables: dict[str, bool]
    offsets: frozenset[str]
    constants: dict[str, Array]
    sizes: Sizes

    @classmethod
    def of(
        cls,
        approximations: Mapping[str, Approx],
        rank: int | Sequence[int] | None,
        shapes: Mapping[str, tuple[int, int]],
        constants: Mapping[str, Any],
    ) -> Plan:
        """Read the texts together."""
        named = tuple(
            _Named(name, a.V, a.loss, a.model, a.products) for name, a in approximations.items()
        )
        known = {name: _constant(name, value) for name, value in constants.items()}
        products = [product for a in named for product in a.products]
        variables = _variables(products, set(known))
        for a in named:
            _check_once(a, set(variables), set(known))
        offsets = frozenset(
            symbol.name
            for product in products
            if any(symbol.name == ONES for symbol in product.symbols)
            for symbol in product.symbols
            if symbol.name in variables
        )
        plan = cls(named, variables, offsets, known, Sizes())
        plan._deduce(rank, shapes)
        return plan

    def shape(self, name: str) -> tuple[int, int]:
        """Return the shape of a variable."""
        rows, columns = (self.sizes.of((name, axis)) for axis in (0, 1))
        assert rows is not None
        assert columns is not None
        return rows, columns

    def mask(self, symbol: Symbol, dtype: Any) -> Array | None:
        """Return what a variable is multiplied by entry by entry, in its place in the product."""
        if not symbol.mask:
            return None
        mask = self.constants[symbol.mask]
        return (mask.T if symbol.mask_flipped else mask).astype(dtype)

    def constant(self, approximation: _Named, product: Product, place: int) -> Array:
        """Return the constant at a position of a product."""
        symbol = product.symbols[place]
        dtype = approximation.V.dtype
        if symbol.name == ONES:
            length = approximation.V.shape[1 if place else 0]
            return np.ones((1, length) if place else (length, 1), dtype=dtype)
        value = self.constants[symbol.name]
        return (value.T if symbol.flipped else value).astype(dtype)

    def _deduce(
        self, rank: int | Sequence[int] | None, shapes: Mapping[str, tuple[int, int]]
    ) -> None:
        """Join the sides that meet, tell what is known, and fill the rest by the rank."""
        for name, value in self.constants.items():
            for axis in (0, 1):
                self.sizes.know((name, axis), value.shape[axis], f"the constant {name}")
        for name, shape in shapes.items():
            if name not in self.variables:
                raise InputError(
                    f"shapes has {name}, which is not a variable; the variables are "
                    f"{', '.join(self.variables)}"
                )
            for axis, size in enumerate(_pair(name, shape)):
                self.sizes.know((name, axis), size, "shapes")
        for a in self.approximations:
            for product in a.products:
                self._join(a, product)
        self._fill(rank)

    def _join(self, a: _Named, product: Product) -> None:
        """Join the sides that meet within a product, and its ends with the data."""
        symbols = product.symbols
        _check_ones(a, product)
        last = len(symbols) - 1
        for place, symbol in enumerate(symbols):
            left, right = _sides(symbol)
            if symbol.name == ONES:
                continue
            if symbol.mask:
                rows, columns = _sides(Symbol(symbol.mask, symbol.mask_flipped))
                self.sizes.join(left, rows)
                self.sizes.join(right, columns)
            if place == 0:
                self.sizes.know(left, a.V.shape[0], f"the rows of {a.name}")
            elif symbols[place - 1].name == ONES:
                self.sizes.know(left, 1, f"the ones in {a.model!r}")
            else:
                self.sizes.join(_sides(symbols[place - 1])[1], left)
            if place == last:
                self.sizes.know(right, a.V.shape[1], f"the columns of {a.name}")
            elif symbols[place + 1].name == ONES:
                self.sizes.know(right, 1, f"the ones in {a.model!r}")

    def _unknown(self) -> Iterator[Side]:
        """Yield sides whose size nothing tells, in the order of the texts."""
        for a in self.approximations:
            for product in a.products:
                for symbol in product.symbols:
                    for side in _sides(symbol):
                        if symbol.name in self.variables and self.sizes.of(side) is None:
                            yield side

    def _fill(self, rank: int | Sequence[int] | None) -> None:
        single = not isinstance(rank, (tuple, list))
        ranks = iter([] if single else [as_rank(own) for own in rank])  # type: ignore[union-attr]
        while (side := next(self._unknown(), None)) is not None:
            size = rank if single else next(ranks, None)
            if size is None:
                raise InputError(
                    f"{shown(side)} is known neither from data nor from constants; give rank=4, one "
                    "number for each such size, rank=(4, 3), or shapes={...}"
                )
            self.sizes.know(side, as_rank(size), "rank")
        if (left := next(ranks, None)) is not None:
            raise InputError(
                f"rank has one number too many, {left}: all sizes are known without it; leave it out"
            )


def _sides(symbol: Symbol) -> tuple[Side, Side]:
    """Return the rows and the columns of a symbol as it stands in a product."""
    return (symbol.name, int(symbol.flipped)), (symbol.name, int(not symbol.flipped))


def _variables(products: Sequence[Product], constants: set[str]) -> dict[str, bool]:
    """Return the variables, those of products of several first, and if components are columns."""
    known = constants | {ONES}
    found: dict[str, bool] = {}
    lists = [[s for s in product.symbols if s.name not in known] for product in products]
    # A product of several variables says more of a variable than one with constants.
    for product, own in sorted(
        zip(products, lists, strict=True), key=lambda pair: len(pair[1]) == 1
    ):
        for place, symbol in enumerate(own):
            first = product.symbols[0] is symbol and len(product.symbols) > 1
            columns = first if len(own) == 1 else place == 0
            found.setdefault(symbol.name, columns != symbol.flipped)
    return found


def _check_once(a: _Named, variables: set[str], constants: set[str]) -> None:
    """Raise unless each product has a variable and each variable stands once in a model."""
    names = [symbol.name for product in a.products for symbol in product.symbols]
    for name in variables:
        if names.count(name) > 1:
            raise InputError(
                f"{name} appears {names.count(name)} times in {a.model!r}, and a model must be "
                "linear in each variable; give the second one another name"
            )
    for product in a.products:
        for symbol in product.symbols:
            masked = symbol.mask in constants and symbol.name in variables
            if symbol.mask and not masked:
                raise InputError(
                    f"{symbol.mask} * {symbol.name} in {a.model!r} must be a constant times a "
                    "variable; name the constant in constants={...}, or write @ for a product"
                )
        if not any(symbol.name in variables for symbol in product.symbols):
            raise InputError(
                f"a product in {a.model!r} has no variable; subtract what is known from the data"
            )


def _check_ones(a: _Named, product: Product) -> None:
    places = [i for i, symbol in enumerate(product.symbols) if symbol.name == ONES]
    if any(place not in (0, len(product.symbols) - 1) for place in places):
        raise InputError(f'in {a.model!r} ones must be at an end, as in "b @ 1" or "1 @ c"')


def _constant(name: str, value: Any) -> Array:
    array = as_numbers(value, name)
    if array.ndim != 2:
        raise InputError(
            f"the constant {name} must be a matrix, got shape {array.shape}; reshape it"
        )
    return as_matrix(array, name, (array.shape[0], array.shape[1]))


def _pair(name: str, shape: Any) -> tuple[int, int]:
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise InputError(f"the shape of {name} is (rows, columns), got {shape!r}; try (30, 4)")
    return as_rank(shape[0]), as_rank(shape[1])
