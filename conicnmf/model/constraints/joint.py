"""Projections on several constraints at once.

Projecting on one constraint after the other does not give the nearest point of their
intersection. A constraint says itself what it is together with B ≥ 0, by `project_nonneg`, and
within bounds on its entries, by `project_within`; any other combination with a known projection is
registered here as what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.geometry.band import project_band
from conicnmf.geometry.norms import project_norm_ball
from conicnmf.model.constraints.entrywise import NonNegative
from conicnmf.model.constraints.norms import NormBall, UnitNorm
from conicnmf.model.constraints.sparseness import Sparseness
from conicnmf.model.terms import Constraint, Each, pieces
from conicnmf.types import Array

Rule = Callable[..., Array]
_RULES: list[tuple[tuple[type[Constraint], ...], Rule]] = []


def joint_projection(*kinds: type[Constraint]) -> Callable[[Rule], Rule]:
    """Register a function ``(rows, *constraints)`` as the projection on these kinds together.

    A constraint of a subclass is projected on like one of its base class.
    """

    def register(rule: Rule) -> Rule:
        _RULES.append((kinds, rule))
        return rule

    return register


@joint_projection(NonNegative, Sparseness, UnitNorm)
def _unit_band(rows: Array, _: NonNegative, band: Sparseness, unit: UnitNorm) -> Array:
    return unit.stretched(project_band(rows, band.min, band.max)[1])


@joint_projection(Sparseness, UnitNorm)
def _signed_unit_band(rows: Array, band: Sparseness, unit: UnitNorm) -> Array:
    # Sparseness and norm do not depend on signs: the nearest magnitudes, with the signs there were.
    sizes = unit.stretched(project_band(np.abs(rows), band.min, band.max)[1])
    return np.copysign(sizes, rows)


@joint_projection(Sparseness, NormBall)
def _signed_short_band(rows: Array, band: Sparseness, ball: NormBall) -> Array:
    sizes = project_norm_ball(project_band(np.abs(rows), band.min, band.max)[0], ball.radius)
    return np.copysign(sizes, rows)


@joint_projection(NonNegative, Sparseness, NormBall)
def _short_band(rows: Array, _: NonNegative, band: Sparseness, ball: NormBall) -> Array:
    # The band is a cone: the nearest point in the ball is on the ray of the nearest point.
    return project_norm_ball(project_band(rows, band.min, band.max)[0], ball.radius)


def merged_bounds(constraints: Sequence[Constraint]) -> tuple[Array, Array]:
    """Return the bounds on the entries that all constraints together allow, as far as they say."""
    lower, upper = np.asarray(-np.inf), np.asarray(np.inf)
    for constraint in constraints:
        if "bounds" in constraint.abilities:
            low, high = constraint.bounds()
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        elif constraint.implies_nonnegative:
            lower = np.maximum(lower, 0.0)
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
    shaped = met([c for c in constraints if "bounds" not in c.abilities])
    if not shaped:
        return JointProjection("entry", _Clip(lower, upper))
    each = shaped[0].each
    if len({c.each for c in shaped}) > 1:
        return None
    only = shaped[0] if len(shaped) == 1 else None
    nonneg = bool((lower == 0).all())
    if np.isfinite(upper).any() or (np.isfinite(lower).any() and not nonneg):
        if only is None or "project_within" not in only.abilities:
            return None
        return JointProjection(each, _Within(only, lower, upper))
    if only is not None:
        alone = "project" if not nonneg or only.implies_nonnegative else "project_nonneg"
        if alone in only.abilities:
            return JointProjection(each, _Alone(only, alone))
    if _apart(shaped):
        alone = "project_nonneg" if nonneg else "project"
        if all(alone in c.abilities for c in shaped):
            return JointProjection(each, _InTurn([_Alone(c, alone) for c in shaped]))
    members = [NonNegative(), *shaped] if nonneg else shaped
    for kinds, rule in _RULES:
        ordered = _in_order(members, kinds)
        if ordered is not None:
            return JointProjection(each, _Rows(rule, ordered, each))
    return None


def _apart(constraints: Sequence[Constraint]) -> bool:
    """Whether no two constraints concern the same entries of a piece."""
    if not all("span" in c.abilities for c in constraints):
        return False
    spans = [place for c in constraints for place in c.span()]
    return len(set(spans)) == len(spans)


def met(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return the constraints with those that are one set together put into one.

    Examples
    --------
    >>> import conicnmf as cn
    >>> met([cn.Sparseness(min=0.2), cn.NonNegative(), cn.Sparseness(max=0.7)])
    [Sparseness(min=0.2, max=0.7, each='component'), NonNegative()]
    """
    kept: list[Constraint] = []
    for constraint in constraints:
        for k, own in enumerate(kept):
            both = own.meet(constraint) if "meet" in own.abilities else None
            if both is not None:
                kept[k] = both
                break
        else:
            kept.append(constraint)
    return kept


def _in_order(
    members: Sequence[Constraint], kinds: Sequence[type[Constraint]]
) -> list[Constraint] | None:
    """Return the members in the order of a rule's kinds, nothing when the rule is for others."""
    found = [[c for c in members if isinstance(c, kind)] for kind in kinds]
    fits = len(members) == len(kinds) and all(len(own) == 1 for own in found)
    return [own[0] for own in found] if fits else None


@dataclass(frozen=True, eq=False)
class _Clip:
    lower: Array
    upper: Array

    def __call__(self, B: Array, rows: slice) -> Array:
        # As Python's numbers they leave single precision as it is.
        low, high = (b[rows] if b.ndim else float(b) for b in (self.lower, self.upper))
        return np.clip(B[rows], low, high).astype(B.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class _Within:
    constraint: Constraint
    lower: Array
    upper: Array

    def __call__(self, B: Array, rows: slice) -> Array:
        low, high = (b[rows] if b.ndim else b for b in (self.lower, self.upper))
        within: Array = _of(self.constraint, rows).project_within(B[rows], low, high)
        return within


@dataclass(frozen=True, eq=False)
class _Alone:
    constraint: Constraint
    ability: str

    def __call__(self, B: Array, rows: slice) -> Array:
        return self.on(B[rows], rows)

    def on(self, own: Array, rows: slice) -> Array:
        """Project these rows of the factor."""
        project: Callable[[Array], Array] = getattr(_of(self.constraint, rows), self.ability)
        return project(own)


@dataclass(frozen=True, eq=False)
class _InTurn:
    steps: list[_Alone]

    def __call__(self, B: Array, rows: slice) -> Array:
        own = B[rows]
        for step in self.steps:
            own = step.on(own, rows)
        return own


@dataclass(frozen=True, eq=False)
class _Rows:
    rule: Rule
    constraints: list[Any]
    each: Each

    def __call__(self, B: Array, rows: slice) -> Array:
        pieces_ = np.ascontiguousarray(pieces(B[rows], self.each))
        return pieces(self.rule(pieces_, *(_of(c, rows) for c in self.constraints)), self.each)


def _of(constraint: Any, rows: slice) -> Any:
    """Return the constraint on these rows; all of them are most often asked for."""
    return constraint if rows == slice(None) else constraint.of(rows)
