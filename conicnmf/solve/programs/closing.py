"""From the answer of a cone program to a point of the block's own constraints.

Cone programs want an interior, so prescribed sparseness is opened to a narrow band while they run.
Where no projection is known, the band is closed again by Newton steps: the gauge ‖b‖ − eᵀb/c is zero
exactly at the prescribed sparseness, and the nearest point with its linearization held at zero is a
convex program, which meets the gauge up to the square of the step. What cannot be held at once has a
slack, whose price is too high to be paid for longer than it must. Pieces are measured by their own
lengths: sparseness has no scale, and of a piece far smaller than others a backend would see nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.losses import Frobenius
from conicnmf.model.terms import Each, Halfspaces, Pieces, pieces
from conicnmf.model.tolerances import FEASIBLE, INSIDE
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.needs import signed
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.kept import Kept
from conicnmf.solve.programs.signed import magnitudes
from conicnmf.solve.programs.tangent import planes_at
from conicnmf.types import Array

_ROUNDS = 20
_PRICE = 1e3


@dataclass(frozen=True, eq=False)
class Settled:
    """A point of the constraints, or nothing when none was found, and the backend calls."""

    B: Array | None
    records: Sequence[InnerSolve] = ()


class Closing:
    """The way to the constraints of a block, with programs that are built once."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._opened = tuple(c for c in block.constraints if c.with_interior() is not c)
        self._kept = Kept(self._nearest)

    def settle(self, B: Array, last: Array) -> Settled:
        """Return the point of the constraints near B: its projection, or one found by steps.

        Pieces that are zero and must not be begin as those of the last point.
        """
        block = self._block
        B = block.kept_alive(B, last)
        # A projection sets small entries to zero, which a divergence may not allow: only where it must.
        exact = block.projection is not None and block.kind != "separable"
        if not exact and block.violation(B) <= INSIDE:
            return Settled(B)
        if block.projection is not None:
            return Settled(block.projection(B))
        if signed(block):
            sizes = self._magnitudes.settle(np.abs(B), np.abs(last))
            return Settled(None if sizes.B is None else np.copysign(sizes.B, B), sizes.records)
        return self._close(B)

    @cached_property
    def _near(self) -> Block:
        """The block of all points that obey the constraints that were not opened."""
        others = tuple(c for c in self._block.constraints if c not in self._opened)
        target = np.zeros(self._block.shape)
        return fitted_block(self._block.name, target, np.eye(len(target)), Frobenius(), others)[0]

    @cached_property
    def _variable(self) -> cp.Variable:
        return cp.Variable(self._block.shape)

    @cached_property
    def _magnitudes(self) -> Closing:
        return Closing(magnitudes(self._block))

    def _close(self, B: Array) -> Settled:
        active = [c.violation(B) > INSIDE for c in self._opened]
        records: list[InnerSolve] = []
        P = B
        for _ in range(_ROUNDS):
            if is_late():
                break
            holds = [Cut(c.tangent(P), own) for c, own in zip(self._opened, active, strict=True)]
            nearest = self._at(B, holds, planes_at(self._near, P))
            found, tried = solve_along(nearest, self._variable, chain(None))
            records += tried
            if found is None:
                break
            P = np.clip(self._lengths(B) * found, *self._block.bounds)
            if self._block.violation(P) <= INSIDE:
                return Settled(P, records)
            outside = [c.violation(P) > INSIDE for c in self._opened]
            active = [was | now for was, now in zip(active, outside, strict=True)]
        # The last digits are the backend's; what is feasible all the same is kept.
        return Settled(P if self._block.violation(P) <= FEASIBLE else None, records)

    def _at(self, B: Array, holds: Sequence[Cut], cuts: Sequence[Cut]) -> cp.Problem:
        """Return the program of the point nearest to B, on the planes of `holds` and beyond `cuts`."""
        sizes = self._lengths(B)
        numbers: dict[str, Any] = {"sizes": sizes, "target": B / sizes}
        for k, cut in enumerate((*holds, *cuts)):
            if not cut.halfspaces.in_numbers:
                continue
            normals, levels = _relative(cut, sizes)
            numbers |= {f"normals {k}": normals, f"levels {k}": levels}
            if k < len(holds):
                numbers[f"mirrored {k}"] = np.where(cut.active, -levels, -1.0)
        kinds = (c.halfspaces.each if c.halfspaces.in_numbers else c for c in (*holds, *cuts))
        return self._kept(tuple(kinds), **numbers)

    def _lengths(self, B: Array) -> Array:
        """Return the length of the piece that each entry of B belongs to, of zero ones the largest."""
        each: Pieces = "sample" if all(c.each == "sample" for c in self._opened) else "component"
        lengths = np.linalg.norm(pieces(B, each), axis=1)
        largest = float(lengths.max(initial=0.0)) or 1.0
        lengths = np.where(lengths > 0, lengths, largest)
        return pieces(np.broadcast_to(lengths[:, None], pieces(B, each).shape), each)

    def _nearest(
        self, kinds: tuple[Each | Cut, ...], sizes: Any, target: Any, **planes: Any
    ) -> cp.Problem:
        """Build that program; of a kind that is no set of numbers there is the whole cut."""
        Y, slack = self._variable, cp.Variable(nonneg=True)
        X = cp.multiply(sizes, Y)
        limits = [part for c in self._near.constraints for part in c.cone(X)]
        for k, kind in enumerate(kinds):
            if isinstance(kind, Cut):
                limits += kind.constraints(X, slack)
                continue
            inner = Halfspaces(planes[f"normals {k}"], kind).products(Y)
            limits.append(inner + slack >= planes[f"levels {k}"])
            if k < len(self._opened):
                limits.append(slack - inner >= planes[f"mirrored {k}"])
        return cp.Problem(cp.Minimize(cp.sum_squares(Y - target) + _PRICE * slack), limits)


def _relative(cut: Cut, sizes: Array) -> tuple[Array, Array]:
    """Return normals and levels of half-spaces on B divided by `sizes`, of the normals' lengths."""
    each, normals = cut.halfspaces.each, cut.normals()
    rows = normals * sizes.ravel() if each == "factor" else pieces(normals * sizes, each)
    lengths: Array = np.asarray(np.linalg.norm(rows, axis=1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    rows, levels = rows / lengths[:, None], cut.levels() / lengths
    return (rows if each == "factor" else pieces(rows, each)), levels
