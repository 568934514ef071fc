"""Constraints on whole rows of H, whose entries are in many strips."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from conicnmf.geometry.cones import cone_ratios
from conicnmf.geometry.long_rows import Cut, LongRows
from conicnmf.model.terms import Constraint
from conicnmf.strips import Strips
from conicnmf.types import Array

Cutter: TypeAlias = Callable[[LongRows, slice], Cut]
"""From sums over rows, which are a part of all, what their entries become."""


def find_cutter(constraints: Sequence[Constraint]) -> Cutter | None:
    """Return the projection on all constraints of rows with B ≥ 0, nothing where none is known.

    Examples
    --------
    >>> import conicnmf as cn
    >>> find_cutter([cn.NonNegative(), cn.Sparseness(min=0.5), cn.UnitNorm()]) is None
    False
    >>> find_cutter([cn.NonNegative(), cn.Monotone()]) is None
    True
    """
    shaped = [c for c in constraints if "bounds" not in c.abilities]
    if any(c.each != "component" for c in shaped):
        return None
    if len(shaped) == 1 and "cut_of_rows" in shaped[0].abilities:
        return partial(_cut_alone, shaped[0])
    bands = [c for c in shaped if "band" in c.abilities]
    lengths = [c for c in shaped if "lengths_of_rows" in c.abilities]
    if len(bands) + len(lengths) < len(shaped) or max(len(bands), len(lengths)) > 1:
        return None
    return partial(_cut_cone, next(iter(bands), None), next(iter(lengths), None))


def _cut_alone(constraint: Constraint, rows: LongRows, own: slice) -> Cut:
    return constraint.of(own).cut_of_rows(rows)


def _cut_cone(band: Constraint | None, norms: Constraint | None, rows: LongRows, own: slice) -> Cut:
    """Find the best directions of a cone, and the lengths that they may have."""
    low, high = (0.0, 1.0) if band is None else band.of(own).band()
    cut, products = rows.directions(*(cone_ratios(rows.size, s) for s in (high, low)))
    lengths = np.maximum(products, 0.0)
    return cut.times(lengths if norms is None else norms.lengths_of_rows(lengths))


def long_rows(B: Strips) -> LongRows:
    """Return the rows of a matrix in strips."""

    def ask(work: Any, combine: Any) -> Any:
        return B.crew.run(partial(_asked, work), B, combine=combine)

    return LongRows(ask, B.shape[1])


def _asked(work: Any, k: int, B: Array) -> tuple[None, Any]:
    return None, work(k, B)


def cut_strip(cut: Cut, k: int, B: Array) -> tuple[Array, Any]:
    """Return a strip of the projection."""
    return cut(k, B), ()


def violation_of_rows(constraint: Constraint, B: Strips) -> float:
    """Return the largest violation of a constraint on rows."""
    return float(constraint.violation_of_rows(long_rows(B)).max(initial=0.0))
