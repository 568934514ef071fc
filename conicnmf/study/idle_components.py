"""Components that add nothing, or the same as another, and what they could do instead.

Such a component is a fault only where it could do more: with an exact fit, a penalty that no
component is worth, or more components than the data have rows, there is nothing for it to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conicnmf.model.base import BaseProblem
from conicnmf.model.problem import Problem
from conicnmf.solve.methods.revive import revive
from conicnmf.study.stationarity import remaining_descent
from conicnmf.types import Array, Factors, Mask

_ALIKE = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Idle:
    """How many components of a product are idle, and what work would gain, None where unknown."""

    name: str
    count: int
    gain: float | None


def idle_components(
    problem: BaseProblem, factors: Factors, feasibility: float
) -> Iterator[tuple[Idle, Idle]]:
    """Yield the dead and the duplicate components of each product."""
    pairs, labels = problem.components(factors), problem.component_labels
    for place, (columns, rows) in enumerate(pairs):
        of = f", {labels[place]}" if len(pairs) > 1 and labels else ""
        sizes = np.linalg.norm(columns, axis=0) * np.linalg.norm(rows, axis=1)
        dead = sizes <= 1e-8 * sizes.max(initial=0.0)
        first = twins(columns, ~dead)
        found = (
            (f"dead components{of}", dead, rows),
            (f"duplicate components{of}", *_merged(columns, rows, first)),
        )
        idle = [
            Idle(name, int(those.sum()), _gain(problem, place, factors, those, merged, feasibility))
            for name, those, merged in found
        ]
        yield idle[0], idle[1]


def twins(columns: Array, alive: Mask) -> NDArray[np.intp]:
    """Return for each column the first one that it is a multiple of, itself where there is none.

    Examples
    --------
    >>> twins(np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 2.0]]), np.array([True, True, True]))
    array([0, 1, 0])
    """
    first = np.arange(columns.shape[1], dtype=np.intp)
    kept = np.flatnonzero(alive)
    units = columns[:, kept] / np.linalg.norm(columns[:, kept], axis=0)
    alike = np.abs(units.T @ units) > _ALIKE
    first[kept] = kept[alike.argmax(axis=1)] if kept.size else kept
    return first


def _merged(columns: Array, rows: Array, first: NDArray[np.intp]) -> tuple[Mask, Array]:
    """Return which components are copies, and the rows when their originals do their work."""
    copies = first != np.arange(len(first))
    merged = rows.copy()
    for j in np.flatnonzero(copies):
        w = columns[:, first[j]]
        merged[first[j]] += (w @ columns[:, j]) / (w @ w) * rows[j]
        merged[j] = 0.0
    return copies, merged


def _gain(
    problem: BaseProblem, place: int, factors: Factors, idle: Mask, rows: Array, feasibility: float
) -> float | None:
    """Return by how much the objective falls when idle components are pointed at the residual."""
    if not idle.any():
        return 0.0
    if not isinstance(problem, Problem) or not problem.products[place][1].is_bare:
        return None
    gains = []
    names = problem.products[place][1].names
    for block in (own for own in problem.blocks if own.name in names):
        other = problem.partner(block)
        if other is None:
            continue
        right = block if names[-1] == block.name else other
        freed = right.put(factors, rows)
        for one in (block, other):
            freed = one.put(freed, np.where(idle[:, None], 0.0, one.rows(freed)))
        revived = revive(problem, block, freed)
        if revived is freed or problem.violation(revived) > feasibility:
            continue
        held, B = other.given(revived), other.rows(revived)
        after = problem.objective(revived) - remaining_descent(held, B)[0]
        gains.append(problem.objective(factors) - after)
    return max(gains, default=None)
