"""Bounds on sparseness in all their spellings, merged into one band for each set of entries.

A bound may be on a whole factor, on some rows or columns, with one level or one for each piece, or be
written as ‖x‖₁ ≤ c‖x‖₂. The last is recognized by its meaning: at random points it has the values of
a‖x‖₁ − b‖x‖₂.
"""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality
from numpy.typing import NDArray

from conicnmf.errors import InfeasibleError, ModelError
from conicnmf.model.constraints import OnPart, Sparseness
from conicnmf.model.constraints.sparseness import as_level
from conicnmf.model.curvature_parts import gradient_at, values_of
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.sparseness import SparsenessBound, entries_of
from conicnmf.model.terms import Constraint, Pieces
from conicnmf.types import Array

_POINTS = 5
_SAME = 1e-9


class Piece(NamedTuple):
    """Entries of a variable, counted row by row, whose sparseness is between two numbers."""

    entries: NDArray[np.intp]
    low: float
    high: float


class Bands:
    """The bands of one variable, collected piece by piece."""

    def __init__(self, shape: tuple[int, ...], axes: dict[int, Pieces]) -> None:
        self._shape, self._axes = shape, axes
        self._found: dict[tuple[Pieces, tuple[int, ...]], tuple[Array, Array]] = {}

    def add(self, bound: SparsenessBound) -> None:
        """Add what was stated with `cn.sparseness`."""
        found = entries_of(bound.part, bound.variable)
        assert found is not None
        rows = np.atleast_2d(found.T if bound.axis == 0 else found)
        if found.ndim == 1 and bound.axis == 1:
            raise ModelError(
                f"cn.sparseness({shown(bound.part)}) is that of one vector; leave axis=1 out"
            )
        Sparseness(bound.min, bound.max, self._axes[bound.axis])  # raises for what is no band
        try:
            low, high = (np.broadcast_to(level, len(rows)) for level in (bound.min, bound.max))
        except ValueError:
            count = max(np.size(bound.min), np.size(bound.max))
            raise ModelError(
                f"cn.sparseness({shown(bound.part)}, axis={bound.axis}) is {len(rows)} numbers, and is "
                f"compared with {count}; give one level for all, or {len(rows)}"
            ) from None
        for piece in map(Piece, rows, low, high):
            if not self._put(piece, bound.axis):
                raise ModelError(
                    f"cn.sparseness({shown(bound.part)}) mixes entries from several rows and "
                    "columns at once; write cp.norm1(x) <= c * cp.norm2(x) for these"
                )

    def take(self, constraint: cp.Constraint, variable: cp.Variable, nonneg: bool) -> bool:
        """Take a constraint that bounds ‖x‖₁/‖x‖₂ of single rows or columns; whether it is one."""
        pieces = ratio_bounds(constraint, variable, nonneg)
        if not pieces or not all(map(self._place, pieces)):
            return False
        for piece in pieces:
            self._put(piece)
        return True

    def terms(self) -> list[Constraint]:
        """Return a term for each set of entries that bands were stated of."""
        found: list[Constraint] = []
        for (each, places), (low, high) in self._found.items():
            band = Sparseness(_plain(low), _plain(high), each)
            whole = len(places) == self._length(each)
            found.append(band if whole else OnPart(band, places))
        return found

    def _length(self, each: Pieces) -> int:
        """Return how long the pieces of a kind are."""
        return self._shape[0 if self._axes[0] == each else 1]

    def _place(self, piece: Piece, axis: int = 0) -> tuple[Pieces, int, tuple[int, ...]] | None:
        """Return the kind of the row or column of a piece, its number, and the places in it."""
        places = np.unravel_index(piece.entries, self._shape)
        for along in (axis, 1 - axis):
            across = places[1 - along]
            if (across == across[0]).all():
                return self._axes[along], int(across[0]), tuple(sorted(map(int, places[along])))
        return None

    def _put(self, piece: Piece, axis: int = 0) -> bool:
        place = self._place(piece, axis)
        if place is None:
            return False
        each, index, places = place
        count = self._shape[1] if self._axes[0] == each else self._shape[0]
        low, high = self._found.setdefault((each, places), (np.zeros(count), np.ones(count)))
        low[index], high[index] = max(low[index], piece.low), min(high[index], piece.high)
        if low[index] > high[index]:
            raise InfeasibleError(
                f"the sparseness bounds contradict each other: at least {low[index]:g} and at most "
                f"{high[index]:g} for {each} {index}; lower the first or raise the second"
            )
        return True


def _plain(levels: Array) -> float | tuple[float, ...]:
    """Return one number for equal levels."""
    return as_level(levels if np.ptp(levels) else levels[0], "a bound on sparseness")


def ratio_bounds(constraint: cp.Constraint, variable: cp.Variable, nonneg: bool) -> list[Piece]:
    """Return the pieces whose ratio ‖x‖₁/‖x‖₂ a constraint bounds; none when it says something else.

    Examples
    --------
    >>> x = cp.Variable((1, 4))
    >>> [(p.low, p.high) for p in ratio_bounds(cp.norm1(x) <= 1.5 * cp.norm2(x), x, False)]
    [(0.5, 1.0)]
    """
    if not isinstance(constraint, Inequality):
        return []
    rng = np.random.default_rng(0)
    bare = cp.Variable(variable.shape)
    total = constraint.expr.tree_copy({id(variable): bare})
    bare.value = 0.5 + rng.random(variable.shape)
    slopes = gradient_at(total, bare)
    if slopes is None:
        return []
    sizes, points = 2.0 ** np.arange(_POINTS), rng.random((_POINTS, *variable.shape)) + 0.1
    if not nonneg:
        points *= rng.choice([-1.0, 1.0], size=points.shape)
    points *= sizes.reshape(-1, *[1] * variable.ndim)
    values = []
    for point in points:
        bare.value = point
        values.append(values_of(total))
    flat, stated = points.reshape(_POINTS, -1), np.array(values)
    pieces = []
    for k in range(total.size):
        entries = slopes.indices[slopes.indptr[k] : slopes.indptr[k + 1]]
        piece = _ratio_piece(np.sort(entries).astype(np.intp), flat, stated[:, k])
        if piece is None:
            return []
        pieces.append(piece)
    return pieces


def _ratio_piece(entries: NDArray[np.intp], points: Array, stated: Array) -> Piece | None:
    """Return the piece when the values at the points are a‖x‖₁ − b‖x‖₂, with a and b of one sign."""
    if len(entries) < 2 or not np.isfinite(stated).all():
        return None
    own = points[:, entries]
    norms = np.column_stack([np.abs(own).sum(axis=1), -np.linalg.norm(own, axis=1)])
    (a, b), *_ = np.linalg.lstsq(norms, stated, rcond=None)
    if a * b <= 0 or np.abs(norms @ [a, b] - stated).max() > _SAME * np.abs(stated).max():
        return None
    root, c = np.sqrt(len(entries)), b / a
    level = (root - c) / (root - 1)
    if level > 1 + _SAME or (a < 0 and level < -_SAME):
        return None  # nothing but zero is left, which is no band
    # Rounding is all that there is beyond twelve digits.
    level = round(float(np.clip(level, 0.0, 1.0)), 12)
    return Piece(entries, level, 1.0) if a > 0 else Piece(entries, 0.0, level)
