"""Any constraint between convex and concave functions of one factor, whichever way round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints.nonpos import Inequality

from conicnmf.errors import ModelError
from conicnmf.model.constraints.row_sizes import strictness
from conicnmf.model.curvature_parts import gradient_at, gradient_near, halves, values_of
from conicnmf.model.terms import Constraint, Example, Halfspaces, check_stated
from conicnmf.settings import Positive
from conicnmf.types import Array

_DRAWN = 1e-2
"""A point where a wrong-way side is flat says nothing; what lies so far from it does."""
_HALVINGS = 12


@dataclass(frozen=True, eq=False, repr=False)
class ReverseConvex(Constraint):
    """The CVXPY inequalities f(X) ≤ g(X) that `fn` returns, convex or not, such as ‖x‖ ≥ 1.

    Each side must be a sum of convex and concave parts. Parts that make the constraint non-convex
    are replaced by their tangents at the iterate. A tangent lies below a convex function
    everywhere, so a point that satisfies the new constraint also satisfies the original one.

    `fn` receives the factor in its usual orientation (W is features × rank, H is rank × samples) and
    returns one constraint or a list. Violations are CVXPY's own, in the units of the constraint.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> long = ReverseConvex(lambda W: cp.norm(W, 2, axis=0) >= 1)
    >>> long.violation(np.array([[0.6, 0.0], [0.0, 2.0]])).round(6)
    array([0.4, 0. ])
    """

    fn: Callable[[cp.Expression], cp.Constraint | Iterable[cp.Constraint]]
    name: str = ""
    flipped: bool = False
    unit: Positive = 1.0

    def __repr__(self) -> str:
        return f"ReverseConvex({self.name or getattr(self.fn, '__name__', 'constraint')})"

    @property
    def convex(self) -> bool:
        """It is not."""
        return False

    def transposed(self) -> ReverseConvex:
        """Pass the transpose to the user's function from now on."""
        return replace(self, flipped=not self.flipped)

    def scaled(self, c: float) -> ReverseConvex:
        """Pass the factor to the user's function in its own unit from now on."""
        return replace(self, unit=c * self.unit)

    def size(self) -> float:
        """Return the unit in which the user's function sees the factor."""
        return self.unit

    def check(self, shape: tuple[int, int]) -> None:
        """Raise a `ModelError` unless the function returns inequalities with a side that is wrong."""
        for constraint in check_stated(self, self.smooth, shape, "inequalities", cp.Constraint):
            if not isinstance(constraint, Inequality):
                raise ModelError(
                    f"{self} must return inequalities, got {constraint}; write it as f(X) <= g(X)"
                )
            if halves(constraint.expr)[1].is_affine():
                raise ModelError(
                    f"{self} must return what is not convex, got {constraint}, which is; state that "
                    "with Convex"
                )

    def smooth(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the user's constraints."""
        own = B if self.unit == 1 else B / self.unit
        stated: Any = self.fn(own.T if self.flipped else own)
        return [stated] if isinstance(stated, cp.Constraint) else list(stated)

    def violation(self, B: Array) -> Array:
        """Return by how much each entry of f exceeds g, without end outside of their domain."""
        with np.errstate(all="ignore"):
            stated = self.smooth(cp.Constant(np.asarray(B, float)))
            own = np.asarray(B, float) / self.unit
            parts = [strictness(c, own) * values_of(c.expr) for c in stated]
        excess = np.concatenate(parts) if parts else np.zeros(1)
        return np.where(np.isfinite(excess), np.maximum(excess, 0.0), np.inf)

    def cone(self, B: cp.Expression) -> list[cp.Constraint]:
        """Return the domain of what is linearized: a tangent does not know it."""
        X = cp.Variable(B.shape)  # of constants all parts would be convex
        parts = [halves(c.expr)[1] for c in self.smooth(X)]
        return [c.tree_copy({id(X): B}) for part in parts for c in part.domain]

    def tangent(self, P: Array) -> Halfspaces:
        """Return the tangents of the wrong-way sides, of each entry at or next to P.

        Where P is outside, the tangent is that of a point on the way along the gradient into the set.
        """
        X = cp.Variable(P.shape)
        totals = [c.expr for c in self.smooth(X)]
        if not totals:  # such as a band that is open at both ends: 0 ≥ −1
            return Halfspaces(sp.csr_array((1, P.size)), "factor", np.array([-1.0]))
        planes = [_tangent(total, X, np.asarray(P, dtype=float)) for total in totals]
        normals = sp.vstack([normals for normals, _ in planes], format="csr")
        offsets = np.concatenate([offsets for _, offsets in planes])
        bent = any(not halves(total)[0].is_affine() for total in totals)
        return Halfspaces(normals, "factor", offsets, self._above if bent else None)

    def _above(self, B: cp.Expression) -> cp.Expression:
        """Return the convex sides, a vector over all entries; affine ones are in the tangents."""
        X = cp.Variable(B.shape)
        sides = [halves(c.expr)[0] for c in self.smooth(X)]
        sides = [cp.Constant(np.zeros(f.shape)) if f.is_affine() else f for f in sides]
        return cp.hstack([cp.vec(f.tree_copy({id(X): B}), order="F") for f in sides])

    @classmethod
    def examples(cls) -> list[Example]:
        """Return a lower bound on norms, and a bound by another norm."""
        far = np.array([[2.0, 0.0, 0.1], [0.0, 1.5, 0.2]])
        return [
            Example(cls(lambda X: cp.norm(X, 2, axis=1) >= 1), far, 0.2 * far),
            Example(cls(lambda X: cp.norm1(X[0]) <= 1.2 * cp.norm2(X[0])), far, np.ones_like(far)),
        ]


def _tangent(total: cp.Expression, X: cp.Variable, P: Array) -> tuple[sp.csr_array, Array]:
    """Return normals and offsets for one constraint: f(B) + h(P) + ⟨∇h(P), B − P⟩ ≤ 0."""
    convex, concave = halves(total)
    bent = total if convex.is_affine() else concave
    found = None
    for anchor in _anchors(total, X, P):
        slopes = gradient_near(bent, X, anchor)
        if slopes is not None:
            found = -slopes, values_of(bent) - slopes @ X.value.ravel()
            flat = np.asarray(abs(slopes).sum(axis=1) == 0)
            if not (flat & (values_of(total) > 0)).any():
                return found
    # No plane at all: an empty set is inside of every set, and says that another P is needed.
    nothing = sp.csr_array((total.size, X.size)), np.ones(total.size)
    return nothing if found is None else found


def _anchors(total: cp.Expression, X: cp.Variable, P: Array) -> Iterator[Array]:
    """Yield points at which to linearize: on the border next to P, P itself, and near ones."""
    size = float(np.abs(P).max(initial=0.0)) or 1.0
    drawn = size * _DRAWN * np.random.default_rng(0).random(P.shape)
    for near in (P, P + drawn):
        X.value = near
        border = _border(total, X)
        if border is not None:
            yield border
        yield near


def _border(total: cp.Expression, X: cp.Variable) -> Array | None:
    """Return a point where entries that are too large at X's value are zero, along their gradients."""
    P, values = X.value, values_of(total)
    broken = np.isfinite(values).all() and (values > 0).any()
    slopes = gradient_at(total, X) if broken else None
    if slopes is None:
        return None
    squares = np.asarray(slopes.multiply(slopes).sum(axis=1))
    step = np.divide(np.maximum(values, 0.0), squares, out=np.zeros_like(values), where=squares > 0)

    def moved(share: Array) -> Array:
        return np.asarray(P - (slopes.T @ (share * step)).reshape(P.shape))

    low, high = np.zeros_like(step), np.ones_like(step)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        X.value = moved(middle)
        outside = values_of(total) > 0
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return moved(high)
