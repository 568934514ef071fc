"""Recognize sums, norms and orders of whole columns or rows, and sums and norms of a factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.atoms.quad_over_lin import quad_over_lin
from cvxpy.constraints.nonpos import Inequality

from conicnmf.model.constraints import FactorNorm, FactorSum, Monotone, NormBall, Simplex
from conicnmf.model.reading.linear_rows import Lowered
from conicnmf.model.reading.values import exponent_of
from conicnmf.model.terms import Constraint, Pieces
from conicnmf.types import Array


@dataclass(eq=False)
class Totals:
    """What constraints say of the sums of whole columns (axis 0) or rows (axis 1).

    One constraint for each column and one for all of them are the same thing, so they are
    collected until every piece has a total.
    """

    shape: tuple[int, int]
    axis: int
    found: dict[int, float] = field(default_factory=dict)

    def take(self, rows: Lowered) -> bool:
        """Note a constraint that gives the totals of whole pieces; whether it is one."""
        length = self.shape[self.axis]
        if not rows.equal.all() or (np.diff(rows.A.indptr) != length).any():
            return False
        piece = np.unravel_index(rows.A.indices, self.shape, order="F")[1 - self.axis]
        owners, scales = piece.reshape(-1, length), rows.A.data.reshape(-1, length)
        first, scale = owners[:, 0], scales[:, 0]
        if (owners != first[:, None]).any() or not _same(scales, scale[:, None]):
            return False
        totals = dict(zip(first.tolist(), (rows.b / scale).tolist(), strict=True))
        if len(totals) < len(first) or totals.keys() & self.found.keys():
            return False
        self.found |= totals
        return True

    def term(self, each: Pieces) -> Simplex | None:
        """Return the simplex when every piece has the same positive total."""
        if len(self.found) < self.shape[1 - self.axis]:
            return None
        values = np.array(list(self.found.values()))
        same = _same(values, values[0]) and values[0] > 0
        return Simplex(float(values[0]), each) if same else None


@dataclass(eq=False)
class Orders:
    """Which neighbors along columns (axis 0) or rows (axis 1) constraints put in order."""

    shape: tuple[int, int]
    axis: int
    found: dict[int, int] = field(default_factory=dict)
    """For each pair, by the place of its first entry: 1 where it rises, −1 where it falls."""

    def take(self, rows: Lowered) -> bool:
        """Note a constraint whose rows all put two neighbors in order; whether it is one."""
        if rows.equal.any() or rows.b.any() or (np.diff(rows.A.indptr) != 2).any():
            return False
        A = rows.A.sorted_indices()
        first, second = A.indices.reshape(-1, 2).T
        own, other = A.data.reshape(-1, 2).T
        step = 1 if self.axis == 0 else self.shape[0]
        inside = first % self.shape[0] < self.shape[0] - 1 if self.axis == 0 else True
        if (second - first != step).any() or not np.all(inside) or (own + other).any():
            return False
        pairs = dict(zip(first.tolist(), np.sign(own).astype(int).tolist(), strict=True))
        if len(pairs) < len(first) or pairs.keys() & self.found.keys():
            return False
        self.found |= pairs
        return True

    def term(self, each: Pieces) -> Monotone | None:
        """Return the order when all neighbors are in the same one."""
        length = self.shape[self.axis]
        complete = 0 < len(self.found) == (length - 1) * self.shape[1 - self.axis]
        signs = set(self.found.values())
        return Monotone(signs == {1}, each) if complete and len(signs) == 1 else None


def whole_sum(rows: Lowered, size: int) -> FactorSum | None:
    """Return the bound on the sum of all entries, or its value, if that is what is stated."""
    if rows.A.shape[0] != 1 or rows.A.nnz != size or not size:
        return None
    scale = rows.A.data[0]
    equal = bool(rows.equal[0])
    if not _same(rows.A.data, scale) or not (scale > 0 or equal):
        return None
    return FactorSum(float(rows.b[0] / scale), equal)


def norm_ball(
    constraint: cp.Constraint, variable: cp.Variable, axes: dict[int, Pieces]
) -> Constraint | None:
    """Return the ball when a constraint bounds the norms (or their squares) of all pieces.

    Its atoms say that it may, its values at random points that it does.
    """
    if not isinstance(constraint, Inequality) or not _made_of_norms(constraint.expr):
        return None

    def at(X: Array) -> Array:
        return np.asarray(constraint.expr.tree_copy({id(variable): cp.Constant(X)}).value)

    drawn = np.random.default_rng(0).standard_normal((2, *variable.shape))
    points = [_at_border(at, X) for X in drawn]
    zero = at(np.zeros(variable.shape))
    for axis, each in axes.items():
        if zero.size != variable.shape[1 - axis] or not (zero < 0).all():
            continue
        for power in (1, 2):
            norms = [np.linalg.norm(X, axis=axis) ** power for X in points]
            # g(X) = a (norm − bound) with the same a > 0 and bound for every piece
            slopes = [(at(X) - zero).ravel() / n for X, n in zip(points, norms, strict=True)]
            bounds = -zero.ravel() / slopes[0]
            if _same(slopes[0], slopes[1], 1e-10) and _same(bounds, bounds[0], 1e-10):
                slope = float(f"{slopes[0][0]:.12g}")  # takes the rounding of the norms out again
                return NormBall(float(-zero.flat[0] / slope) ** (1 / power), each)
    return _whole_ball(at, points, zero)


def _at_border(at: Callable[[Array], Array], X: Array) -> Array:
    """Return X times the power of two at which a bound begins to hold it: there no digits cancel."""
    low, high = -400, 400
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if (at(2.0**middle * X) > 0).any() else (middle, high)
    return np.asarray(2.0**high * X)


def _same(a: Array | float, b: Array | float, rtol: float = 1e-12) -> bool:
    """Whether numbers are equal up to rounding, however small they are."""
    return bool(np.allclose(a, b, rtol=rtol, atol=0))


def _whole_ball(
    at: Callable[[Array], Array], points: Sequence[Array], zero: Array
) -> FactorNorm | None:
    """Return the ball when the norm of the whole factor, or its square, is bounded."""
    if zero.size != 1 or not (zero < 0).all():
        return None
    for power in (1, 2):
        slopes = [float((at(X) - zero).item() / np.linalg.norm(X) ** power) for X in points]
        if _same(slopes[0], slopes[1], 1e-10):
            slope = float(f"{slopes[0]:.12g}")
            return FactorNorm(float(-zero.item() / slope) ** (1 / power))
    return None


def _made_of_norms(node: cp.Expression) -> bool:
    known = (
        isinstance(node, (AffAtom, quad_over_lin))
        or (isinstance(node, Power) and exponent_of(node) == 2)
        or (isinstance(node, Pnorm) and node.p == 2)
    )
    return not node.args or (known and all(map(_made_of_norms, node.args)))
