"""A constraint on some features of each component, or on some entries of each sample."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.terms import Constraint, Each, Example, Halfspaces
from conicnmf.settings import Reads, listed, shown
from conicnmf.types import Array, Mask

_CARRIED = frozenset(
    {
        "cone",
        "cut_off",
        "meet",
        "project",
        "project_nonneg",
        "scaled",
        "size",
        "smooth",
        "tangent",
        "without_convex_part",
    }
)


def as_places(value: Any, name: str) -> tuple[int, ...]:
    """Return places as whole numbers in rising order.

    Examples
    --------
    >>> as_places(range(3), "places"), as_places(np.array([4, 1]), "places")
    ((0, 1, 2), (1, 4))
    """
    try:
        places = tuple(sorted(map(operator.index, listed(value) or [])))
    except TypeError:
        places = ()
    if not places or len(set(places)) < len(places) or places[0] < 0:
        raise InputError(
            f"{name} must be different whole numbers >= 0, got {shown(value)}; write range(6) for the "
            "first six"
        )
    return places


@dataclass(frozen=True)
class OnPart(Constraint):
    """Apply `constraint` to some entries of each piece.

    Parameters
    ----------
    constraint : Constraint
        A constraint on each component, on each sample or on each entry.
    places : sequence of int
        Which entries of a piece: features where it applies to components of W, components where it
        applies to samples.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> first = OnPart(cn.NormBall(1.0), range(2))
    >>> first.project(np.array([[3.0, 4.0, 7.0]]))
    array([[0.6, 0.8, 7. ]])
    """

    constraint: Constraint
    places: Annotated[Iterable[int], Reads(as_places)]

    def check_settings(self) -> None:
        """Refuse terms that apply to the whole factor at once."""
        fits = self.constraint.each != "factor" and "bounds" not in self.constraint.abilities
        remedy = "state the others with Convex or ReverseConvex, and bounds on entries with Box"
        self.require(fits, "a constraint on components or samples", "constraint", remedy=remedy)

    @property
    def each(self) -> Each:  # type: ignore[override]
        """What the constraint is a product over."""
        return self.constraint.each

    @property
    def abilities(self) -> frozenset[str]:
        """Those of the constraint that a part of a piece can have."""
        own = self.constraint.abilities & _CARRIED
        # Whatever lies in B ≥ 0 has its own projection there.
        implied = self.constraint.implies_nonnegative and "project" in own
        return own | {"span"} | ({"project_nonneg"} if implied else set())

    @property
    def convex(self) -> bool:
        """Whether the constraint is."""
        return self.constraint.convex

    @property
    def sign_free(self) -> bool:
        """Whether the constraint is."""
        return self.constraint.sign_free

    @property
    def orthant_only(self) -> bool:  # type: ignore[override]
        """Whether the constraint is a cone on the part's orthant only."""
        return self.constraint.orthant_only

    @property
    def scale_free(self) -> bool:  # type: ignore[override]
        """Whether the constraint is."""
        return self.constraint.scale_free

    def span(self) -> tuple[int, ...]:
        """Return the places."""
        return tuple(self.places)

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise an `InputError` where a place is not there."""
        length = shape[self._axis]
        if self.span()[-1] >= length:
            raise InputError(
                f"{self} applies to place {self.span()[-1]}, but each {self.each} has {length} "
                "entries; "
                f"use places below {length}"
            )
        self.constraint.check_rows(self._shape(shape))

    def idle(self, shape: tuple[int, int]) -> str:
        """Return why the constraint says nothing of the part."""
        return self.constraint.idle(self._shape(shape))

    def of(self, components: slice) -> OnPart:
        """Return the same for these components alone."""
        own = self.constraint.of(components)
        return self if own is self.constraint else replace(self, constraint=own)

    def with_interior(self) -> OnPart:
        """Widen the constraint where it has no interior."""
        own = self.constraint.with_interior()
        return self if own is self.constraint else replace(self, constraint=own)

    def violation(self, B: Array) -> Array:
        """Return how far the part of each piece is outside."""
        return self.constraint.violation(self._part(B))

    def dead(self, B: Array) -> Mask:
        """Return in which pieces the part is zero and must not be."""
        return self.constraint.dead(self._part(B))

    def kept_alive(self, B: Array, last: Array) -> Array:
        """Return B with a tenth of the last part in place of one that is dead."""
        return self._with(B, self.constraint.kept_alive(self._part(B), self._part(last)))

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the cones of the part."""
        return self.constraint.cone(self._part(B))

    def smooth(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the smooth form of the part."""
        return self.constraint.smooth(self._part(B))

    def project(self, B: Array) -> Array:
        """Project the part, and leave the rest unchanged."""
        return self._with(B, self.constraint.project(self._part(B)))

    def project_nonneg(self, B: Array) -> Array:
        """Project the part, and set what is negative in the rest to zero."""
        own = self.constraint
        nonneg: Callable[[Array], Array] = own.project
        if "project_nonneg" in own.abilities:
            nonneg = own.project_nonneg
        return self._with(np.maximum(B, 0), nonneg(self._part(B)))

    def tangent(self, P: Array) -> Halfspaces:
        """Return the half-spaces of the part."""
        return self._around(self.constraint.tangent(self._part(P)), P)

    def cut_off(self, B: Array) -> tuple[Halfspaces, Mask]:
        """Return the half-spaces that hold the convex part of the set."""
        spaces, broken = self.constraint.cut_off(self._part(B))
        return self._around(spaces, B), broken

    def without_convex_part(self) -> OnPart:
        """Return what is left of the constraint."""
        return replace(self, constraint=self.constraint.without_convex_part())

    def meet(self, other: Constraint) -> OnPart | None:
        """Return what both say of one part, where one constraint can say it."""
        if not isinstance(other, OnPart) or other.places != self.places:
            return None
        both = self.constraint.meet(other.constraint)
        return None if both is None else replace(self, constraint=both)

    def size(self) -> float:
        """Return the size of the constraint."""
        return self.constraint.size()

    def scaled(self, c: float) -> OnPart:
        """Scale the constraint."""
        return replace(self, constraint=self.constraint.scaled(c))

    @property
    def _axis(self) -> int:
        return 0 if self.each == "sample" else 1

    def _shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        count = len(self.span())
        return (shape[0], count) if self._axis == 1 else (count, shape[1])

    def _part(self, B: Any) -> Any:
        places = list(self.span())
        part = B[:, places] if self._axis == 1 else B[places]
        return np.ascontiguousarray(part) if isinstance(B, np.ndarray) else part

    def _with(self, B: Array, part: Array) -> Array:
        whole = B.copy()
        whole[(slice(None), list(self.span())) if self._axis == 1 else list(self.span())] = part
        return whole

    def _around(self, spaces: Halfspaces, B: Array) -> Halfspaces:
        return replace(spaces, normals=self._with(np.zeros_like(B), spaces.normals))

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a band of some features, and one of some components."""
        from conicnmf.model.constraints.sparseness import Sparseness

        sparse, dense = np.array([[1.0, 0, 0, 1], [0, 2, 0, 5]]), np.full((2, 4), 0.5)
        return [
            Example(cls(Sparseness(min=0.6), (0, 1, 2)), sparse, dense),
            Example(cls(Sparseness(min=0.6, each="sample"), (0, 1, 2)), sparse.T, dense.T),
        ]
