"""Read a model from a short text such as "W @ H + b @ 1"; it means what it means in NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from conicnmf.errors import InputError

ONES = "1"
"""What a row or a column of ones is called in a text."""
_REMEDY = 'write a sum of products such as "W @ H + b @ 1"'


@dataclass(frozen=True)
class Symbol:
    """A name in a product: transposed when `flipped`, times the constant `mask` entry by entry."""

    name: str
    flipped: bool = False
    mask: str = ""
    mask_flipped: bool = False

    def transposed(self) -> Symbol:
        """Return what stands here in the transposed product."""
        return replace(self, flipped=not self.flipped, mask_flipped=not self.mask_flipped)


@dataclass(frozen=True)
class Product:
    """A number times symbols, from left to right."""

    symbols: tuple[Symbol, ...]
    scale: float = 1.0

    def transposed(self) -> Product:
        """Return the transposed product."""
        return replace(self, symbols=tuple(s.transposed() for s in reversed(self.symbols)))


def read_text(text: str) -> tuple[Product, ...]:
    """Return the products that a text is a sum of.

    Examples
    --------
    >>> [[s.name for s in product.symbols] for product in read_text("W @ S @ H + b @ 1")]
    [['W', 'S', 'H'], ['b', '1']]
    """
    if not isinstance(text, str):
        raise InputError(f"a model is a string, got {text!r}; {_REMEDY}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):  # half of a character is no text to parse
        raise InputError(f"the model {text!r} is not an expression; {_REMEDY}") from None
    return tuple(_products(tree, text))


def _products(node: ast.expr, text: str) -> Iterator[Product]:
    """Yield the products of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _products(node.left, text)
        sign = -1 if isinstance(node.op, ast.Sub) else 1
        yield from (replace(p, scale=sign * p.scale) for p in _products(node.right, text))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from (replace(p, scale=-p.scale) for p in _products(node.operand, text))
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield from (p.transposed() for p in _products(node.value, text))
    else:
        yield _product(node, text)


def _product(node: ast.expr, text: str) -> Product:
    """Return a single product."""
    if isinstance(node, ast.Name):
        return Product((Symbol(node.id),))
    if isinstance(node, ast.Constant) and node.value == 1:
        return Product((Symbol(ONES),))
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return _product(node.value, text).transposed()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _product(node.operand, text)
        return replace(inner, scale=-inner.scale)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        left, right = _product(node.left, text), _product(node.right, text)
        return Product((*left.symbols, *right.symbols), left.scale * right.scale)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _multiplied(node, text)
    raise InputError(
        f"the model {text!r} has {ast.unparse(node)!r}, which is not a product of names; {_REMEDY}"
    )


def _multiplied(node: ast.BinOp, text: str) -> Product:
    """Return a number times a product, or a constant times a name entry by entry."""
    number, other = _number(node.left), node.right
    if number is None:
        number, other = _number(node.right), node.left
    if number is not None:
        inner = _product(other, text)
        return replace(inner, scale=number * inner.scale)
    mask, masked = _product(node.left, text), _product(node.right, text)
    pair = (*mask.symbols, *masked.symbols)
    if len(mask.symbols) != 1 or len(masked.symbols) != 1 or any(s.mask for s in pair):
        raise InputError(
            f"the model {text!r} has {ast.unparse(node)!r}: * is for a number, or a constant times "
            "one variable entry by entry; write products with @"
        )
    own = replace(pair[1], mask=pair[0].name, mask_flipped=pair[0].flipped)
    return Product((own,), mask.scale * masked.scale)


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    return None
