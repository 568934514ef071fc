"""Constraints: sets that a factor must lie in."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import cvxpy as cp
import numpy as np

from conicnmf.geometry.long_rows import Cut, LongRows
from conicnmf.geometry.rows import next_to_nothing
from conicnmf.model.terms.base import Each, Term, along, optional, pieces
from conicnmf.model.terms.halfspaces import Halfspaces
from conicnmf.types import Array, Mask


class Example(NamedTuple):
    """An instance of a constraint with a point inside and a point outside it."""

    constraint: Constraint
    inside: Array
    outside: Array


class Constraint(Term):
    """A set the factor must lie in, a product over the pieces that `each` names.

    `orthant_only` says that the cone form describes the set for B ≥ 0 only.
    """

    each: Each = "factor"
    orthant_only: ClassVar[bool] = False
    scale_free: ClassVar[bool] = False
    """Whether every positive multiple of a point of the set is in the set."""
    implies_nonnegative: ClassVar[bool] = False
    """Whether the set lies in B ≥ 0."""

    @property
    def convex(self) -> bool:
        """Whether the set is convex."""
        return True

    def violation(self, B: Array) -> Array:
        """Return how far each piece is outside, relative to the constraint's scale; 0 inside."""
        raise self._lacks("violation")

    def zero_allowed(self, shape: tuple[int, int]) -> bool:
        """Whether pieces of a factor of this shape may be zero."""
        return not self.violation(np.zeros(shape)).any()

    def dead(self, B: Array) -> Mask:
        """Return which pieces are zero and must not be; those of a whole factor are never looked at."""
        if self.each not in ("component", "sample"):
            return np.zeros(1, dtype=bool)
        zero = np.asarray(~pieces(B, self.each).any(axis=1))
        # Asked in every iteration, and hardly ever is anything zero.
        return zero & (self.violation(0 * B) > 0) if zero.any() else zero

    def kept_alive(self, B: Array, last: Array) -> Array:
        """Return B with a tenth of the last piece in place of one that is dead.

        In a set such as a band of sparseness the infimum may lie at zero, which is not in it. A piece
        that is next to nothing stays as it is: smaller numbers would have too few digits for the set.
        """
        dead = self.dead(B)
        if not dead.any():
            return B
        largest = np.abs(last).max(axis=along(self.each), keepdims=True)
        shorter = np.where(largest < next_to_nothing(B.dtype), last, last / 10)
        return np.where(np.expand_dims(dead, along(self.each)), shorter, B).astype(B.dtype)

    def with_interior(self) -> Constraint:
        """Return the set, or a slightly larger one that has an interior where this has none."""
        return self

    def of(self, components: slice) -> Constraint:
        """Return the set of these rows of B alone; only terms with numbers for each of them differ."""
        return self

    @optional
    def bounds(self) -> tuple[Array, Array]:
        """Return (lower, upper) of a box, each a matrix or a 0-d array for all entries."""
        raise self._lacks("bounds")

    @optional
    def band(self) -> tuple[Array, Array]:
        """Return (s_min, s_max) when the set is this band of Hoyer sparseness of each piece.

        Each is a 0-d array for all pieces, or has a number for each of them.
        """
        raise self._lacks("band")

    @optional
    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the convex part of the set as CVXPY constraints on B."""
        raise self._lacks("cone")

    @optional
    def smooth(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the whole set for a non-linear solver, by smooth CVXPY constraints on B."""
        raise self._lacks("smooth")

    @optional
    def any_sign(self) -> Constraint:
        """Return the same set by convex and concave functions of entries of any sign."""
        raise self._lacks("any_sign")

    @optional
    def project(self, B: Array) -> Array:
        """Return the nearest point of the set."""
        raise self._lacks("project")

    @optional
    def project_nonneg(self, B: Array) -> Array:
        """Return the nearest point of the set that has no negative entry."""
        raise self._lacks("project_nonneg")

    @optional
    def project_within(self, B: Array, lower: Array, upper: Array) -> Array:
        """Return the nearest point of the set with lower ≤ B ≤ upper, each a number or a matrix."""
        raise self._lacks("project_within")

    @optional
    def least_squares(self, G: Array, C: Array, B: Array) -> Array:
        """Return the minimizer over the set of ½⟨X, G X⟩ − ⟨C, X⟩, exactly, from a guess B.

        G is one matrix or a stack with one for each column. Asked only where `each` is "entry" or
        "sample", so that columns do not see each other.
        """
        raise self._lacks("least_squares")

    @optional
    def least_squares_nonneg(self, G: Array, C: Array, B: Array) -> Array:
        """Return the minimizer of the same over points of the set that have no negative entry.

        The set may tie samples together; G is one matrix for all columns.
        """
        raise self._lacks("least_squares_nonneg")

    @optional
    def tangent(self, P: Array) -> Halfspaces:
        """Return half-spaces inside the reverse-convex set, one for each number of `violation`.

        They keep P where it is feasible. Elsewhere they lie inside all the same, near P.
        """
        raise self._lacks("tangent")

    @optional
    def convex_at(self, P: Array) -> Constraint:
        """Return a convex part of a set that is not convex, with the feasible point P in it."""
        raise self._lacks("convex_at")

    @optional
    def plane(self, shape: tuple[int, int]) -> Halfspaces:
        """Return planes ⟨normals_j, B_j⟩ = offsets_j when the set is what they have in B ≥ 0."""
        raise self._lacks("plane")

    @optional
    def cut_off(self, B: Array) -> tuple[Halfspaces, Mask]:
        """Return half-spaces that hold the convex part of the set and lose B, and for which pieces."""
        raise self._lacks("cut_off")

    @optional
    def without_convex_part(self) -> Constraint:
        """Return what is left of the set when its convex part is held by `cut_off`."""
        raise self._lacks("without_convex_part")

    @optional
    def meet(self, other: Constraint) -> Constraint | None:
        """Return the set that both describe as one of this kind, nothing where it is none."""
        raise self._lacks("meet")

    @optional
    def span(self) -> tuple[int, ...]:
        """Return the entries of each piece that it concerns, where these are not all."""
        raise self._lacks("span")

    @optional
    def approach(self, B: Array) -> Array:
        """Return a point near B from which methods may start, where no projection is known."""
        raise self._lacks("approach")

    @optional
    def violation_of_rows(self, rows: LongRows) -> Array:
        """Return the violation of components that are in several places, from sums over these."""
        raise self._lacks("violation_of_rows")

    @optional
    def cut_of_rows(self, rows: LongRows) -> Cut:
        """Return what entries of such components become in the nearest point of the set with B ≥ 0."""
        raise self._lacks("cut_of_rows")

    @optional
    def lengths_of_rows(self, lengths: Array) -> Array:
        """Return the norms of the nearest points when the set asks for no more than norms."""
        raise self._lacks("lengths_of_rows")

    @optional
    def size(self) -> float:
        """Return how large entries or pieces of the set are, where it says: a bound, a radius."""
        raise self._lacks("size")

    @optional
    def guessed_size(self, shape: tuple[int, int]) -> float:
        """Return a likely size of the set, for factors of which no constraint names one."""
        raise self._lacks("guessed_size")

    @optional
    def scaled(self, c: float) -> Constraint:
        """Return the set of all c·B with B in this one, c > 0."""
        raise self._lacks("scaled")

    @classmethod
    def examples(cls) -> list[Example]:
        """Return instances with a point inside and one outside, for the conformance checks."""
        return []
