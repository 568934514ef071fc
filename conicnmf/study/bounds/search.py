"""Best-first branch and bound: the part with the lowest bound is split in two, again and again."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np

from conicnmf.solve.deadline import is_late
from conicnmf.study.bounds.cells import Cell
from conicnmf.types import Array

Node = tuple[Cell, ...]
"""A cone of directions for every component."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """What a relaxation says of a node: its least value, the point there, and how to split it.

    `slack` says for every component how far the point is from what it stands for, `scores` what
    each two of the component's rays have to do with that.
    """

    lower: float
    B: Array
    slack: Array
    scores: tuple[Array, ...]


class Relaxation(Protocol):
    """A problem that can be bounded from below where every component lies in a cone."""

    def bound(self, node: Node) -> Bounded:
        """Return a lower bound over the node."""

    def settle(self, B: Array, polish: bool) -> tuple[float, Array]:
        """Return a feasible point near B and its objective; a local minimum with `polish`."""


@dataclass(frozen=True, eq=False)
class Search:
    """Where a search ended: the best point, its value, the proved bound, and how many parts it took."""

    B: Array
    value: float
    lower: float
    cells: int


def branch_and_bound(
    relaxation: Relaxation, root: Node, B: Array, budget: int, gap: float, least: float
) -> Search:
    """Search until the best value is proved to within a tolerance, or the budget of parts is spent.

    Parameters
    ----------
    relaxation : Relaxation
    root : tuple of Cell
    B : array
        A first point.
    budget : int
        The number of parts to bound.
    gap : float
        Ends the search when the lowest bound is below the best value by this part of it
    least : float
        or by this.
    """
    value, B = relaxation.settle(B, polish=True)
    order, made, closed = count(), 1, np.inf
    first = relaxation.bound(root)
    waiting = [(first.lower, next(order), root, first)]
    while waiting and made < budget and not is_late():
        near = value - max(gap * abs(value), least)
        if waiting[0][0] >= near:
            break
        lower, _, node, seen = heapq.heappop(waiting)
        halves = _split(node, seen)
        if halves is None:
            closed = min(closed, lower)  # rounding is all that is left of it
            continue
        for half in halves:
            made += 1
            found = relaxation.bound(half)
            # A child is a part of its parent, whatever rounding says.
            bound = max(found.lower, lower)
            if bound >= near:
                closed = min(closed, bound)
                continue
            reached, point = relaxation.settle(found.B, polish=made.bit_count() == 1)
            if reached < value:
                value, B = relaxation.settle(point, polish=True)
            heapq.heappush(waiting, (bound, next(order), half, found))
    lower = min([closed, value, *(entry[0] for entry in waiting)])
    return Search(B, value, lower, made)


def _split(node: Node, seen: Bounded) -> tuple[Node, Node] | None:
    """Split a component's cone, that with most slack first."""
    for j in np.argsort(-seen.slack):
        halves = node[j].split(seen.B[j], seen.scores[j])
        if halves is not None:
            first, second = ((*node[:j], half, *node[j + 1 :]) for half in halves)
            return first, second
    return None
