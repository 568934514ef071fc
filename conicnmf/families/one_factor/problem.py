"""What the problems with one factor share, as their solvers see it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.operators import Operator, Point
from conicnmf.model.base import BaseProblem
from conicnmf.model.constraints import NonNegative
from conicnmf.model.constraints.joint import JointProjection, find_projection, merged_bounds
from conicnmf.model.terms import Constraint
from conicnmf.types import Array, Factors
from conicnmf.validate import as_matrix


class OneFactorProblem(BaseProblem):
    """A problem in W ≥ 0 alone whose learning direction is A W.

    `constraints` are on W beyond W ≥ 0, seen with components as rows; `norm` is the matrix B of
    wᵀBw = 1, nothing for orthonormal columns.
    """

    kind = "one-factor problem"
    rank: int
    constraints: Any = ()
    norm: Any = None
    reconstructs: ClassVar[bool] = False
    """Whether the objective is ‖V − WWᵀV‖² rather than the negative of ½tr(WᵀAW)."""

    @abstractmethod
    def operator(self, W: Array) -> Operator:
        """Return A, which may depend on W."""

    def at(self, W: Array) -> Point:
        """Return W with its products with A."""
        return self.operator(W).at(W)

    @abstractmethod
    def scaled(self, W: Array) -> Point:
        """Return W on the scale that the problem prescribes; rules leave scale to this."""

    @property
    def signed(self) -> bool:
        """Whether A may have negative entries."""
        return True

    def in_norm(self, w: Array) -> Array:
        """Return B w, or w itself where columns are orthonormal."""
        return w if self.norm is None else np.asarray(self.norm @ w)

    @property
    def definite_sign(self) -> int:
        """1 where A is known to be positive semi-definite, −1 where negative, else 0."""
        return 0

    def report(self, point: Point) -> tuple[Factors, float | None]:
        """Return the feasible W that stands for an iterate, and its objective where known."""
        return {"W": point.W}, None

    @cached_property
    def every(self) -> tuple[Constraint, ...]:
        """Non-negativity and the further constraints."""
        return (NonNegative(), *self.constraints)

    @cached_property
    def projection(self) -> JointProjection | None:
        """The projection on all constraints together, if one is known."""
        return find_projection(self.every)

    @cached_property
    def scale_free(self) -> bool:
        """Whether every constraint but a norm keeps any multiple of W."""
        return all(c.scale_free for c in self.constraints)

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        B = np.ascontiguousarray(factors["W"].T)
        return {f"W: {c}": float(c.violation(B).max(initial=0.0)) for c in self.every}

    def collapsed(self, factors: Factors) -> bool:
        """Whether a column of W is zero."""
        return bool(not factors["W"].any(axis=0).all())

    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return random entries or the W given, in the constraints as far as projections go."""
        shape = self.shapes["W"]
        if init is None:
            W: Array = 1.0 - rng.random(
                shape
            )  # in (0, 1]: the rules multiply and cannot leave zero
        else:
            given = init["W"] if isinstance(init, Mapping) else init
            W = np.maximum(as_matrix(given, "W", (shape[0], shape[1])), 0.0)
        if self.constraints and self.projection is not None:
            W = self.projection(np.ascontiguousarray(W.T)).T
        return {"W": self.scaled(np.ascontiguousarray(W.astype(self.dtype))).W}

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The precision of W."""


def as_constraints(
    terms: Sequence[Constraint] | None, shape: tuple[int, int]
) -> tuple[Constraint, ...]:
    """Return constraints on W, given as the user sees W, with components as rows.

    Examples
    --------
    >>> from conicnmf.model.constraints import Sparseness
    >>> as_constraints([NonNegative(), Sparseness(min=0.5)], (4, 1))
    (Sparseness(min=0.5, max=1.0, each='component'),)
    """
    if isinstance(terms, Constraint) or not isinstance(terms or (), Iterable):
        raise InputError(f"constraints must be a list, got {terms!r}; put it in brackets")
    stated = tuple(terms or ())
    for term in stated:
        if not isinstance(term, Constraint):
            raise InputError(
                f"constraints takes constraints such as Sparseness(min=0.8), got {term!r}; CVXPY "
                "constraints go into Convex(lambda W: ...)"
            )
        term.check(shape)
    turned = tuple(t.transposed() for t in stated if t != NonNegative())
    merged_bounds((NonNegative(), *turned))
    return turned
