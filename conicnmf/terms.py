"""What every loss, constraint and penalty shares.

A term lives on one factor, seen in *block orientation*: ``B`` holds one component per row, so
``B`` is ``H`` itself or ``W`` transposed. A term claims an ability by defining the method of that
name; the base classes mark the methods a term may leave out with `optional`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import cvxpy as cp
import numpy as np

from conicnmf._types import Array, Data
from conicnmf.errors import InputError

Each = Literal["entry", "component", "sample", "factor"]
"""The pieces of B a constraint speaks of: its feasible set is a product over them."""

F = TypeVar("F", bound=Callable[..., Any])


def optional(method: F) -> F:
    """Mark a base-class method that a term may leave undefined."""
    method.__optional__ = True  # type: ignore[attr-defined]
    return method


class Term:
    """A part of a factorization problem.

    Examples
    --------
    >>> import conicnmf as cn
    >>> sorted(cn.NonNegative().abilities)
    ['cone', 'project']
    """

    @property
    def abilities(self) -> frozenset[str]:
        """Names of the optional methods this term defines."""
        cls = type(self)
        return frozenset(
            name
            for base in cls.__mro__
            for name, member in vars(base).items()
            if hasattr(member, "__optional__") and not hasattr(getattr(cls, name), "__optional__")
        )

    def transposed(self) -> Self:
        """Return the same term for the transposed factor; only terms that hold arrays differ."""
        return self

    def check(self, shape: tuple[int, int]) -> None:
        """Raise an `InputError` when the term cannot apply to a factor of this shape."""

    def _lacks(self, ability: str) -> TypeError:
        return TypeError(f"{self} does not define {ability!r}; look at .abilities before calling")


class Example(NamedTuple):
    """An instance of a constraint with a point inside and a point outside it."""

    constraint: Constraint
    inside: Array
    outside: Array


@dataclass(frozen=True)
class Halfspaces:
    """One half-space ⟨normals_j, B_j⟩ ≥ 0 for each piece j (a row or a column of B)."""

    normals: Array
    each: Each


class Constraint(Term):
    """A set the factor must lie in, a product over the pieces that `each` names.

    `orthant_only` says that the cone form describes the set for B ≥ 0 only; `sign_free` that the
    set does not depend on the signs of the entries.
    """

    each: Each = "factor"
    orthant_only: ClassVar[bool] = False
    sign_free: ClassVar[bool] = False

    @property
    def convex(self) -> bool:
        """Whether the set is convex."""
        return True

    def violation(self, B: Array) -> Array:
        """Return how far each piece is outside, relative to the constraint's scale; 0 inside."""
        raise self._lacks("violation")

    @optional
    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the convex part of the set as CVXPY constraints on B."""
        raise self._lacks("cone")

    @optional
    def project(self, B: Array) -> Array:
        """Return the nearest point of the set."""
        raise self._lacks("project")

    @optional
    def tangent(self, P: Array) -> Halfspaces:
        """Return half-spaces inside the reverse-convex set that keep the feasible point P."""
        raise self._lacks("tangent")

    @classmethod
    def examples(cls) -> list[Example]:
        """Return instances with a point inside and one outside, for the conformance checks."""
        return []


class Penalty(Term):
    """A function of one factor that is added to the objective."""

    def value(self, B: Array) -> float:
        """Return the penalty at B."""
        raise self._lacks("value")

    @optional
    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty as a convex CVXPY expression."""
        raise self._lacks("expression")

    @optional
    def gradient(self, B: Array) -> Array:
        """Return the gradient, on the non-negative orthant where the penalty is not smooth."""
        raise self._lacks("gradient")

    @optional
    def orthant(self) -> tuple[float, float]:
        """Return (slope, curvature) with value = Σ slope·b + ½ curvature·b² for B ≥ 0."""
        raise self._lacks("orthant")

    @optional
    def slope(self, B: Array) -> Array:
        """Return the gradient at B of a penalty that is not convex, to be linearised there."""
        raise self._lacks("slope")


@dataclass(frozen=True, eq=False)
class Quadratic:
    """½⟨B, G B⟩ − ⟨C, B⟩ + constant, the loss as a function of one factor."""

    G: Array
    C: Array
    constant: float

    def value(self, B: Array) -> float:
        """Evaluate the quadratic without touching the data."""
        smooth = 0.5 * np.einsum("ij,ij->", self.G, B @ B.T) - np.einsum("ij,ij->", self.C, B)
        return float(smooth + self.constant)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The loss as ‖D − R B‖² + constant; R is (r, r), or (n, r, r) when columns differ."""

    R: Array
    D: Array
    constant: float

    def value(self, B: Array) -> float:
        """Return ‖D − R B‖² + constant."""
        model = self.R @ B if self.R.ndim == 2 else np.einsum("kij,jk->ik", self.R, B)
        return float(np.sum((self.D - model) ** 2)) + self.constant

    def with_signs(self, S: Array) -> Reduced:
        """Return the loss of S ∘ M as a function of the magnitudes M."""
        return Reduced(self.R * S.T[:, None, :], self.D, self.constant)


class Loss(Term):
    """How far A B is from the data Y; it may be asked to stay at or below `cap`."""

    cap: float = np.inf

    def value(self, Y: Data, A: Array, B: Array) -> float:
        """Return the loss."""
        raise self._lacks("value")

    @optional
    def gradient(self, Y: Data, A: Array, B: Array) -> Array:
        """Return the gradient with respect to B."""
        raise self._lacks("gradient")

    @optional
    def quadratic(self, Y: Data, A: Array) -> tuple[Array, Array]:
        """Return (G, C) with loss ½⟨B, G B⟩ − ⟨C, B⟩ + loss at B = 0."""
        raise self._lacks("quadratic")

    @optional
    def reduced(self, Y: Data, A: Array) -> Reduced:
        """Return the loss as a least-squares problem of the size of B."""
        raise self._lacks("reduced")

    @optional
    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return non-negative (N, P) with gradient P − N, for multiplicative updates."""
        raise self._lacks("ratio")

    @optional
    def expression(self, Y: Data, A: Any, B: cp.Expression) -> cp.Expression:
        """Return the loss as a CVXPY expression, convex in B."""
        raise self._lacks("expression")


def check_each(each: str, name: str) -> None:
    """Raise unless `each` names the rows or the columns of a block."""
    if each not in ("component", "sample"):
        raise InputError(
            f'{name} needs each="component" or each="sample", got {each!r}; '
            "a component is a column of W or a row of H, a sample is a column of H (or a row of W)"
        )


def pieces(B: Array, each: Each) -> Array:
    """Return B with the pieces as rows."""
    return B if each == "component" else B.T
