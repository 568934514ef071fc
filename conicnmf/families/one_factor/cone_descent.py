"""One column in a cone with a projection: min ½wᵀBw − ⟨g, w⟩ by accelerated projected steps.

In a cone K any w may be scaled, so max ⟨g, w⟩ over w ∈ K with wᵀBw ≤ 1 is max ⟨g, w⟩/√(wᵀBw), and
min over t ≥ 0 of ½t²wᵀBw − t⟨g, w⟩ is −½⟨g, w⟩²/wᵀBw: both have the same maximizers up to scale. A
lower bound on sparseness makes K not convex; the steps still never rise, and end in a local optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conicnmf.families.one_factor.column_steps import Found, NativeColumn, on_scale
from conicnmf.families.one_factor.view import OneFactor
from conicnmf.types import Array

_STEPS, _STILL = 2000, 1e-9


def least_in_cone(
    product: Callable[[Array], Array],
    steepest: float,
    g: Array,
    project: Callable[[Array], Array],
    start: Array,
) -> Array:
    """Return a w of low ½wᵀBw − ⟨g, w⟩ in a cone, never higher than at the start.

    Parameters
    ----------
    product : callable
        w ↦ B w.
    steepest : float
        At least the largest eigenvalue of B.
    project : callable
        The projection on the cone.
    start : array
        A point of the cone.

    Examples
    --------
    >>> B = np.diag([1.0, 2.0])
    >>> least_in_cone(
    ...     lambda w: B @ w, 2.0, np.array([1.0, -1.0]), lambda w: np.maximum(w, 0), np.ones(2)
    ... ).round(6)
    array([1., 0.])
    """
    w, pull = start, product(start)
    value = 0.5 * float(w @ pull) - float(g @ w)
    ahead, ahead_pull, momentum = w, pull, 1.0
    for _ in range(_STEPS):
        after = project(ahead - (ahead_pull - g) / steepest)
        after_pull = product(after)
        lower = 0.5 * float(after @ after_pull) - float(g @ after)
        if lower >= value:
            if momentum == 1.0:
                break  # a plain step does not fall any more
            ahead, ahead_pull, momentum = w, pull, 1.0
            continue
        gained, value = value - lower, lower
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share, momentum = (momentum - 1) / grown, grown
        # B is linear, so no further product is needed for the point ahead.
        ahead, ahead_pull = after + share * (after - w), after_pull + share * (after_pull - pull)
        w, pull = after, after_pull
        if gained <= _STILL * abs(value):
            break
    return w


class ConeColumn:
    """max ⟨g, w⟩ with wᵀBw ≤ 1 over W ≥ 0 and constraints that make a cone with a projection."""

    def __init__(self, view: OneFactor) -> None:
        self.view = view
        self.free = NativeColumn(view)
        # The power method may end a little below the largest eigenvalue.
        norm = view.norm
        self.steepest = 1.0 if norm is None else 1.01 * norm.metric.largest / norm.level

    @staticmethod
    def fits(view: OneFactor) -> bool:
        """Whether the constraints are of this kind."""
        return view.rank == 1 and view.scale_free and view.projection is not None

    def best(self, aims: list[Array], W: Array, j: int, fresh: bool) -> Found:
        """Return what is found from w and, at first, from where the optimum without the cone is."""
        found: list[Array] = []
        w = np.asarray(W[:, 0], dtype=float)
        for g in aims:
            unit = g / (np.linalg.norm(g) or 1.0)
            starts = [self._scaled(w, unit)] if g @ w > 0 else []
            if fresh or not starts:
                outside, _ = self.free.best([unit], W, j, fresh)
                starts += [self._scaled(self._project(s), unit) for s in [*outside, unit]]
            ends = [self._descended(unit, start) for start in starts if start.any()]
            found += [on_scale(self.view, end) for end in ends if end.any()]
        return found or [w], []

    def _descended(self, g: Array, start: Array) -> Array:
        return least_in_cone(self._product, self.steepest, g, self._project, start)

    def _product(self, w: Array) -> Array:
        return np.asarray(self.view.in_norm(w[:, None]))[:, 0]

    def _project(self, w: Array) -> Array:
        assert self.view.projection is not None
        found: Array = self.view.projection(np.ascontiguousarray(w[None, :]))[0]
        return found

    def _scaled(self, w: Array, g: Array) -> Array:
        """Return the multiple of w of least ½wᵀBw − ⟨g, w⟩."""
        along, square = float(g @ w), float(w @ self._product(w))
        return np.asarray(w * (along / square)) if along > 0 and square > 0 else np.zeros_like(w)
