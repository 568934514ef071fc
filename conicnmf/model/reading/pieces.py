"""Recognize sums and norms of whole columns or rows: the simplex and the Euclidean ball."""

from __future__ import annotations

from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.atoms.quad_over_lin import quad_over_lin
from cvxpy.constraints.nonpos import Inequality

from conicnmf.model.constraints import NormBall, Simplex
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
        if (owners != first[:, None]).any() or not np.allclose(scales, scale[:, None], rtol=1e-12):
            return False
        totals = dict(zip(first.tolist(), (rows.b / scale).tolist(), strict=True))
        if len(totals) < len(first) or totals.keys() & self.found.keys():
            return False
        self.found |= totals
        return True

    def simplex(self, each: Pieces) -> Simplex | None:
        """Return the simplex when every piece has the same positive total."""
        if len(self.found) < self.shape[1 - self.axis]:
            return None
        values = np.array(list(self.found.values()))
        same = np.allclose(values, values[0], rtol=1e-12, atol=0) and values[0] > 0
        return Simplex(float(values[0]), each) if same else None


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

    points = np.random.default_rng(0).standard_normal((2, *variable.shape))
    zero = at(np.zeros(variable.shape))
    for axis, each in axes.items():
        if zero.size != variable.shape[1 - axis] or not (zero < 0).all():
            continue
        for power in (1, 2):
            norms = [np.linalg.norm(X, axis=axis) ** power for X in points]
            # g(X) = a (norm − bound) with the same a > 0 and bound for every piece
            slopes = [(at(X) - zero).ravel() / n for X, n in zip(points, norms, strict=True)]
            bounds = -zero.ravel() / slopes[0]
            if np.allclose(slopes[0], slopes[1]) and np.allclose(bounds, bounds[0]):
                slope = float(f"{slopes[0][0]:.12g}")  # takes the rounding of the norms out again
                return NormBall(float(-zero.flat[0] / slope) ** (1 / power), each)
    return None


def _made_of_norms(node: cp.Expression) -> bool:
    known = (
        isinstance(node, (AffAtom, quad_over_lin))
        or (isinstance(node, Power) and exponent_of(node) == 2)
        or (isinstance(node, Pnorm) and node.p == 2)
    )
    return not node.args or (known and all(map(_made_of_norms, node.args)))
