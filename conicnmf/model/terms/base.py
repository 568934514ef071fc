"""What every loss, constraint and penalty shares.

A term lives on one factor, seen in *block orientation*: ``B`` holds one component per row, so
``B`` is ``H`` itself or ``W`` transposed. A term claims an ability by defining the method of that
name; the base classes mark the methods a term may leave out with `optional`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

import numpy as np

from conicnmf.settings import Rule, Settings
from conicnmf.types import Array

Each = Literal["entry", "component", "sample", "factor"]
"""The pieces of B a constraint applies to: its feasible set is a product over them."""
Pieces: TypeAlias = Annotated[
    Literal["component", "sample"],
    Rule(
        remedy="a component is a column of W or a row of H, a sample is a column of H (or a row of W)"
    ),
]
"""The rows or the columns of B, as a setting."""

F = TypeVar("F", bound=Callable[..., Any])


def optional(method: F) -> F:
    """Mark a base-class method that a term may leave undefined."""
    method.__optional__ = True  # type: ignore[attr-defined]
    return method


@cache
def _abilities_of(cls: Any) -> frozenset[str]:
    return frozenset(
        name
        for base in cls.__mro__
        for name, member in vars(base).items()
        if hasattr(member, "__optional__") and not hasattr(getattr(cls, name), "__optional__")
    )


class Term(Settings):
    """A part of a factorization problem.

    Examples
    --------
    >>> import conicnmf as cn
    >>> sorted(cn.NonNegative().abilities)
    ['bounds', 'cone', 'least_squares', 'project', 'scaled']
    """

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the optional methods this term defines."""
        kind: Any = type(self)
        return _abilities_of(kind)

    @property
    def sign_free(self) -> bool:
        """Whether it does not depend on the signs of the entries."""
        return False

    def transposed(self) -> Self:
        """Return the same term for the transposed factor; only terms that hold arrays differ."""
        return self

    def check(self, shape: tuple[int, int]) -> None:
        """Raise an `InputError` when the term cannot apply to a factor of this shape."""

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise the same for a factor of this shape with its components as rows."""

    def idle(self, shape: tuple[int, int]) -> str:
        """Return why it says nothing about factors of this shape, or nothing where it does.

        Such a term is left out, with a warning that gives the reason.
        """
        return ""

    def _lacks(self, ability: str) -> TypeError:
        return TypeError(f"{self} does not define {ability!r}; look at .abilities before calling")


def pieces(B: Array, each: Each) -> Array:
    """Return B with the pieces as rows."""
    return B if each == "component" else B.T


def along(each: Each) -> int:
    """Return the axis of B along which the pieces run."""
    return 1 if each == "component" else 0


def by_rows(apply: Callable[[Array], Array], B: Array, each: Each) -> Array:
    """Return B after `apply`, which sees the pieces as rows."""
    return pieces(apply(np.ascontiguousarray(pieces(B, each))), each)


def relative_to(rows: Array, excess: Array) -> Array:
    """Return what is too much of each row in units of its largest entry, 0 for a zero row."""
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    return np.asarray(np.divide(excess, sizes, out=np.zeros(len(rows)), where=sizes > 0))
