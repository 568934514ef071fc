"""Component after component of H by its exact minimum, where a component is in many strips.

The loss is a multiple of ‖b − target‖² in one row b. Each strip finds its part of the target, sums
over strips find the projection of the whole, and each strip takes its part of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from conicnmf.geometry.long_rows import Cut
from conicnmf.geometry.rows import next_to_nothing
from conicnmf.model.blocks import Subproblem
from conicnmf.model.large.recipe import Recipe
from conicnmf.model.large.rows import Cutter, cut_strip, long_rows
from conicnmf.strips import Strips
from conicnmf.types import Array, Data

_UNSEEN = 1e-9
"""Curvatures below this part of the largest are those of atoms that the data do not see."""


@dataclass(frozen=True, eq=False)
class RowStep:
    """One row that was replaced: by its cut target, or by a tenth of itself where that is zero."""

    row: int
    cut: Cut | None = None

    def taken(self, k: int, curvature: float, G: Array, C: Array, B: Array) -> None:
        """Replace the row in a strip of B, in place."""
        if self.cut is None:
            B[self.row] /= 10
        else:
            own = target_of_row(self.row, curvature, G, C, list(B[:, None]))
            B[self.row] = self.cut(k, own)[0]


@dataclass(eq=False)
class RowDescent:
    """Some sweeps over the rows of H with W held; the rows are matrices of their own meanwhile."""

    recipe: Recipe
    terms: Any
    W: Array
    V: Strips
    B: Strips
    cutter: Cutter
    keeps_alive: bool

    def run(self, sweeps: int) -> tuple[Strips, float]:
        """Return H after so many visits of each row, and the objective of its block."""
        crew = self.V.crew
        linear = crew.later(
            partial(_linear_part, self.recipe, self.terms, self.W),
            self.V,
            keep=True,
            passing=True,
            combine=_first_and_sum,
        )
        rows = [
            crew.later(partial(_row, j), self.B, keep=True, passing=True).matrix
            for j in range(self.W.shape[1])
        ]
        C, (G, constant) = linear.matrix, linear.total
        curvatures = _curvatures(G, bool(self.terms[1]))
        steps: list[RowStep] = []
        for _ in range(sweeps):
            for j in np.flatnonzero(curvatures > 0):
                step = self._visit(int(j), float(curvatures[j]), G, C, rows)
                steps += [] if step is None else [step]
        stacked = crew.later(partial(_stacked, G), C, *rows, keep=True, passing=True)
        new, (value,) = stacked.matrix, stacked.total
        # What made it again in one go is remembered, instead of all that happened in between.
        again = partial(_repeated, self.recipe, self.terms, self.W, G, curvatures, tuple(steps))
        crew.made_by(new, again, self.V, self.B)
        return new, float(value + constant)

    def _visit(
        self, j: int, curvature: float, G: Array, C: Strips, rows: list[Any]
    ) -> RowStep | None:
        """Replace a row; return how, or nothing where it is next to nothing and stays."""
        crew = self.V.crew
        work = partial(_target, j, curvature, G)
        target = crew.later(work, C, *rows, keep=True, passing=True).matrix
        cut = self.cutter(long_rows(target), slice(j, j + 1))
        found = crew.later(partial(cut_strip, cut), target, keep=True, passing=True).matrix
        if self.keeps_alive and not found.alive().all():
            if np.sqrt(rows[j].squares[0]) < next_to_nothing(rows[j].dtype):
                return None
            rows[j] = rows[j] / 10
            return RowStep(j)
        rows[j] = found
        return RowStep(j, cut)


def _curvatures(G: Array, priced: bool) -> Array:
    """Return the curvature of each row; of a zero atom only its price is left."""
    own = np.diag(G)
    return np.maximum(own, _UNSEEN * (own.max() or 1.0) if priced else 0.0)


def target_of_row(j: int, curvature: float, G: Array, C: Array, rows: Sequence[Array]) -> Array:
    """Return the minimizer over row j with the others held, as a matrix of one row."""
    rest = C[j : j + 1].copy()
    for i, row in enumerate(rows):
        rest -= G[j, i] * row
    return np.asarray(rows[j] + rest / curvature, dtype=C.dtype)


def _held(recipe: Recipe, terms: Any, W: Array, k: int, V: Data) -> Subproblem:
    return recipe.held(k, V, W, terms)


def _linear_part(
    recipe: Recipe, terms: Any, W: Array, k: int, V: Data
) -> tuple[Array, tuple[Array, float]]:
    quadratic = _held(recipe, terms, W, k, V).quadratic()
    return quadratic.C, (quadratic.G, quadratic.constant)


def _first_and_sum(one: Any, other: Any) -> Any:
    return one[0], one[1] + other[1]


def _row(j: int, k: int, B: Array) -> tuple[Array, Any]:
    return B[j : j + 1], ()


def _target(
    j: int, curvature: float, G: Array, k: int, C: Array, *rows: Array
) -> tuple[Array, Any]:
    return target_of_row(j, curvature, G, C, rows), ()


def _stacked(G: Array, k: int, C: Array, *rows: Array) -> tuple[Array, Any]:
    B = np.vstack(rows)
    bent = float(np.einsum("ij,ij->", B @ B.T, G, dtype=np.float64))
    return B, (0.5 * bent - float(np.einsum("ij,ij->", C, B, dtype=np.float64)),)


def _repeated(
    recipe: Recipe,
    terms: Any,
    W: Array,
    G: Array,
    curvatures: Array,
    steps: Sequence[RowStep],
    k: int,
    V: Data,
    B: Array,
) -> tuple[Array, Any]:
    """Make a strip again: what other strips had to say is in the cuts."""
    C, B = _held(recipe, terms, W, k, V).quadratic().C, np.array(B)
    for step in steps:
        step.taken(k, float(curvatures[step.row]), G, C, B)
    return B, ()
