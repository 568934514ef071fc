"""Projective NMF: V ≈ W Wᵀ V with one non-negative factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.chosen import preferred
from conicnmf.families.one_factor.gains import reconstruction_gain
from conicnmf.families.one_factor.operators import Moments, Operator, Point
from conicnmf.families.one_factor.problem import OneFactorProblem, as_constraints
from conicnmf.model.terms import Constraint
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Array, Factors, stored
from conicnmf.validate import as_data, as_rank


@dataclass(frozen=True, eq=False, repr=False)
class ProjectiveNMF(OneFactorProblem):
    """Minimize ‖V − WWᵀV‖² over W ≥ 0.

    The columns of W come out nearly orthogonal, so each row of V belongs to one part. `ProjectiveRule`
    is the rule of projective NMF, `ProjectionRule` the non-negative linear Hebbian network,
    `OnlineHebbian` its version for a stream. W has the best scale in every iterate, so that scale
    cannot oscillate. V Vᵀ is formed only where that is cheaper than products with V.

    Parameters
    ----------
    V : array or sparse matrix
        Non-negative data, features × samples.
    rank : int
    constraints : list of Constraint
        On W, for example ``[Sparseness(min=0.8)]``; W ≥ 0 is always there.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectiveNMF
    >>> V = np.repeat(np.eye(2), 3, axis=0) @ np.random.default_rng(0).random((2, 9))
    >>> result = cn.solve(ProjectiveNMF(V, 2), stop=500)
    >>> result.relative_error < 1e-3, (result.W.T > 0.5).astype(int).tolist()
    (True, [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]])
    """

    V: Any
    rank: int
    _: KW_ONLY
    constraints: Sequence[Constraint] = ()
    reconstructs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        data, rank = as_data(self.V), as_rank(self.rank)
        lowest = float(stored(data).min(initial=0.0))
        if lowest < 0:
            raise InputError(
                f"ProjectiveNMF needs V >= 0, got {lowest:g}; shift V, or state "
                "QuadraticProjection(V @ V.T, rank)"
            )
        object.__setattr__(self, "V", data)
        own = as_constraints(self.constraints, (data.shape[0], rank))
        object.__setattr__(self, "constraints", own)

    def __repr__(self) -> str:
        (m, n), more = self.V.shape, "".join(f", {c}" for c in self.constraints)
        return f"ProjectiveNMF: V ({m} × {n}) ≈ W Wᵀ V, rank {self.rank}, W ≥ 0{more}"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of W."""
        return {"W": (self.V.shape[0], self.rank)}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of V."""
        kind: np.dtype[Any] = self.V.dtype
        return kind

    @property
    def signed(self) -> bool:
        """V Vᵀ has no negative entries."""
        return False

    @cached_property
    def moments(self) -> Moments:
        """V Vᵀ."""
        return Moments(self.V)

    def operator(self, W: Array) -> Operator:
        """Return V Vᵀ."""
        return self.moments

    def scaled(self, W: Array) -> Point:
        """Return c W with the c ≥ 0 that minimizes the objective."""
        point = self.moments.at(W)
        fit, own = _terms(point)
        free = own > 0 and self.scale_free
        return point.times(float(np.sqrt(fit / own))) if free else point

    def value(self, point: Point) -> float:
        """Return the objective at a point."""
        fit, own = _terms(point)
        return max(0.0, self.moments.trace - 2 * fit + own)

    def report(self, point: Point) -> tuple[Factors, float | None]:
        """Return the iterate as it is."""
        return {"W": point.W}, self.value(point)

    def objective(self, factors: Factors) -> float:
        """Return ‖V − WWᵀV‖²."""
        return self.value(self.moments.at(factors["W"]))

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − WWᵀV‖²/‖V‖²."""
        total = self.moments.trace
        return self.objective(factors) / total if total else float("nan")

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return cone programs and rules, in the order in which to try them."""
        return preferred()

    def gains(self, factors: Factors) -> dict[str, float]:
        """Return the part of the objective that a quasi-Newton or projected method still gains."""
        return {"W": reconstruction_gain(self, factors["W"])}


def _terms(point: Point) -> tuple[float, float]:
    """Return tr(WᵀAW) and tr(WᵀAW WᵀW)."""
    W, G = point.W, point.G
    return float(np.sum(W * G)), float(np.sum((W.T @ G) * (W.T @ W)))
