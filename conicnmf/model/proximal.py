"""Proximal steps of all constraints and penalties of a factor together, where they are known.

A projection is the proximal step of a constraint, so this is `find_projection` with penalties. A
penalty says itself what its step is alone, by `prox`, and together with B ≥ 0, by `prox_nonneg`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from conicnmf.model.constraints.joint import JointProjection, find_projection, merged_bounds
from conicnmf.model.terms import Constraint, Each, Penalty
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class JointProx:
    """The X of least penalties(X) + ‖X − B‖²/(2 step) over all constraints of a factor.

    `each` says over what this is separate.
    """

    each: Each
    apply: Callable[[Array, float, slice], Array]

    def __call__(self, B: Array, step: float, rows: slice = slice(None)) -> Array:
        """Return the minimizer for the given rows (all of them where the pieces are not rows)."""
        return self.apply(B, step, rows)

    @classmethod
    def onto(cls, projection: JointProjection) -> JointProx:
        """Return the step of constraints alone: a projection, however long it is."""
        return cls(projection.each, _Projection(projection))


def find_prox(
    constraints: Sequence[Constraint], penalties: Sequence[Penalty] = ()
) -> JointProx | None:
    """Return the proximal step of all terms together, or nothing when none is known.

    Examples
    --------
    >>> import conicnmf as cn
    >>> step = find_prox([cn.NonNegative()], [cn.TotalVariation(1.0)])
    >>> step(np.array([[-3.0, 2.0, 7.0]]), 1.0)
    array([[0., 2., 6.]])
    """
    if not penalties:
        projection = find_projection(constraints)
        if projection is None:
            return None
        return JointProx.onto(projection)
    lower, upper = merged_bounds(constraints)
    boxes = all("bounds" in c.abilities for c in constraints)
    if len(penalties) > 1 or not boxes or (upper < np.inf).any():
        return None
    (only,) = penalties
    if (lower == -np.inf).all() and "prox" in only.abilities:
        return JointProx(only.each, _Step(only.prox))
    if (lower == 0).all() and "prox_nonneg" in only.abilities:
        return JointProx(only.each, _Step(only.prox_nonneg))
    return None


@dataclass(frozen=True, eq=False)
class _Projection:
    project: JointProjection

    def __call__(self, B: Array, step: float, rows: slice) -> Array:
        return self.project(B, rows)


@dataclass(frozen=True, eq=False)
class _Step:
    prox: Callable[[Array, float], Array]

    def __call__(self, B: Array, step: float, rows: slice) -> Array:
        return self.prox(B[rows], step)
