"""Projections on several constraints at once.

Projecting on one constraint after the other does not give the nearest point of their
intersection, so each combination with a known projection is registered here as what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf._types import Array
from conicnmf.constraints import Entrywise, NonNegative, NormBall, Simplex, Sparseness, UnitNorm
from conicnmf.errors import InfeasibleError
from conicnmf.kernels.band import project_band
from conicnmf.kernels.norms import project_norm_ball, project_unit_norm
from conicnmf.kernels.simplex import project_simplex
from conicnmf.terms import Constraint, Each, pieces

Rule = Callable[..., Array]
_RULES: dict[frozenset[type[Constraint]], tuple[tuple[type[Constraint], ...], Rule]] = {}


def joint_projection(*kinds: type[Constraint]) -> Callable[[Rule], Rule]:
    """Register a function (rows, *constraints) as the projection on these kinds together."""

    def register(rule: Rule) -> Rule:
        _RULES[frozenset(kinds)] = (kinds, rule)
        return rule

    return register


@joint_projection(NonNegative, Sparseness)
def _band(rows: Array, _: NonNegative, band: Sparseness) -> Array:
    return project_band(rows, band.min, band.max)[0]


@joint_projection(NonNegative, Sparseness, UnitNorm)
def _unit_band(rows: Array, _: NonNegative, band: Sparseness, __: UnitNorm) -> Array:
    return project_band(rows, band.min, band.max)[1]


@joint_projection(NonNegative, Sparseness, NormBall)
def _short_band(rows: Array, _: NonNegative, band: Sparseness, ball: NormBall) -> Array:
    # The band is a cone: the nearest point in the ball is on the ray of the nearest point.
    return project_norm_ball(project_band(rows, band.min, band.max)[0], ball.radius)


@joint_projection(NonNegative, UnitNorm)
def _unit_orthant(rows: Array, _: NonNegative, __: UnitNorm) -> Array:
    return project_unit_norm(rows, nonneg=True)


@joint_projection(NonNegative, NormBall)
def _short_orthant(rows: Array, _: NonNegative, ball: NormBall) -> Array:
    return project_norm_ball(np.maximum(rows, 0), ball.radius)


@joint_projection(NonNegative, Simplex)
def _simplex(rows: Array, _: NonNegative, simplex: Simplex) -> Array:
    return project_simplex(rows, simplex.total)


def merged_bounds(constraints: Sequence[Constraint]) -> tuple[Array, Array]:
    """Return the bounds on the entries that all entrywise constraints allow."""
    lower, upper = np.asarray(-np.inf), np.asarray(np.inf)
    for constraint in constraints:
        if isinstance(constraint, Entrywise):
            low, high = constraint.bounds()
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
    clash = np.atleast_2d(lower > upper)
    if clash.any():
        place = tuple(np.argwhere(clash)[0])
        low, high = (np.broadcast_to(bound, clash.shape)[place] for bound in (lower, upper))
        raise InfeasibleError(
            f"{', '.join(map(str, constraints))} contradict each other: an entry of component "
            f"{place[0]} must be at least {low:g} and at most {high:g}; relax one of them"
        )
    return lower, upper


@dataclass(frozen=True, eq=False)
class JointProjection:
    """The nearest point in all constraints of a factor; `each` says what it is a product over."""

    each: Each
    apply: Callable[[Array, slice], Array]

    def __call__(self, B: Array, rows: slice = slice(None)) -> Array:
        """Project the given rows (all of them where the pieces are not rows)."""
        return self.apply(B, rows)


def find_projection(constraints: Sequence[Constraint]) -> JointProjection | None:
    """Return the projection on all constraints together, or nothing when none is known.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> find_projection([cn.NonNegative(), cn.UnitNorm()])(np.array([[3.0, 4.0], [-1.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    lower, upper = merged_bounds(constraints)
    shaped = [c for c in constraints if not isinstance(c, Entrywise)]
    if not shaped:
        return JointProjection("entry", _Clip(lower, upper))
    each = shaped[0].each
    if len({c.each for c in shaped}) > 1 or len({type(c) for c in shaped}) < len(shaped):
        return None
    if np.isfinite(upper).any() or (np.isfinite(lower) & (lower != 0)).any():
        return None
    entries: list[Constraint] = [NonNegative()] if (lower == 0).all() else []
    if not entries and np.isfinite(lower).any():
        return None
    members = {type(c): c for c in [*entries, *shaped]}
    if len(members) == 1 and "project" in shaped[0].abilities:
        only = shaped[0]
        return JointProjection(each, lambda B, rows: only.project(B[rows]))
    found = _RULES.get(frozenset(members))
    if found is None:
        return None
    kinds, rule = found
    ordered = [members[kind] for kind in kinds]
    return JointProjection(each, _Rows(rule, ordered, each))


@dataclass(frozen=True, eq=False)
class _Clip:
    lower: Array
    upper: Array

    def __call__(self, B: Array, rows: slice) -> Array:
        low, high = (b[rows] if b.ndim else b for b in (self.lower, self.upper))
        return np.clip(B[rows], low, high).astype(B.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class _Rows:
    rule: Rule
    constraints: list[Any]
    each: Each

    def __call__(self, B: Array, rows: slice) -> Array:
        pieces_ = np.ascontiguousarray(pieces(B[rows], self.each))
        return pieces(self.rule(pieces_, *self.constraints), self.each)
