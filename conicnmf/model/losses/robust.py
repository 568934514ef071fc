"""Losses that large residuals hardly move: Huber's, and magnitudes.

They are concave in the squared residual. So squares with the weights ℓ'(r)/(2r) of present residuals
touch them and lie above, and each step is one of weighted least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np

from conicnmf.model.losses.entrywise import Entrywise
from conicnmf.model.losses.visits import Visit, visits
from conicnmf.model.terms import Loss, Quadratic
from conicnmf.settings import Positive
from conicnmf.types import Array, Data

_KINK = 1e-3
"""Magnitudes below this part of their mean count as this large: at zero no square is above them."""


class Robust(Entrywise):
    """A loss of the residual alone that is concave in its square."""

    def shares(self, r: Array, unit: float) -> Array:
        """Return the weights of squares that touch at the residuals r, whose mean size is `unit`."""
        raise self._lacks("shares")

    def _unit(self, Y: Data, A: Array, B: Array) -> float:
        """Return the mean magnitude of the residuals."""
        total = count = 0.0
        for v in visits(Y, A, B, self.weights):
            total += v.sum(np.abs(v.y - v.p))
            count += v.sum(np.ones_like(v.p))
        return total / count

    def ratio(self, Y: Data, A: Array, B: Array) -> tuple[Array, Array]:
        """Return the two parts of the gradient of the squares that touch at B."""
        down, up = np.zeros(B.shape), np.zeros(B.shape)
        unit = self._unit(Y, A, B)
        for v in visits(Y, A, B, self.weights):
            share = v.weighed(2 * self.scale * self.shares(v.y - v.p, unit))
            v.add(share * v.y, down)
            v.add(share * v.p, up)
        return down.astype(B.dtype), up.astype(B.dtype)

    def reweigh(self, Y: Data, A: Array, B: Array) -> Loss:
        """Return the squares that touch the loss at B, up to a constant."""
        seen, total, count = [], 0.0, 0.0
        for v in visits(Y, A, B, self.weights):
            # Residuals take the place of the model, which is made once for their mean and for weights.
            np.abs(np.subtract(v.y, v.p, out=v.p), out=v.p)
            total += v.sum(v.p)
            count += v.p.size if isinstance(v.m, float) else v.sum(np.ones_like(v.p))
            seen.append(v)
        unit = total / count
        shares = ((v, v.weighed(self.scale * self.shares(v.p, unit))) for v in seen)
        return self.as_squares(Y, shares)


@dataclass(frozen=True, eq=False, repr=False)
class Huber(Robust):
    """Squares up to `delta`, beyond that lines of slope 2δ.

    Examples
    --------
    >>> Huber(1.0).value(np.array([[0.5, 3.0]]), np.zeros((1, 1)), np.zeros((1, 2)))
    5.25
    """

    delta: Positive = 1.0

    @property
    def details(self) -> str:
        """Show δ."""
        return f"delta={self.delta:g}"

    def scaled(self, c: float) -> Huber:
        """Scale δ, and divide the scale by c²."""
        return replace(self, delta=c * self.delta, scale=self.scale / c**2)

    def entries(self, y: Array, p: Array) -> Array:
        """Return Huber's function of the residuals."""
        r = y - p
        inside = self._inside(r)
        r *= 2
        r -= inside
        r *= inside
        return np.asarray(r)

    def slopes(self, y: Array, p: Array) -> Array:
        """Return −2r, no longer than 2δ."""
        return -2 * self._inside(y - p)

    def _inside(self, r: Array) -> Array:
        """Return residuals, those beyond δ cut off there."""
        delta = r.dtype.type(self.delta)
        return np.clip(r, -delta, delta)

    def cost(self, v: Visit) -> float:
        """Return the weighted sum over visited entries, in one pass."""
        return v.cut_residuals(self.delta)[0]

    def cost_and_slopes(self, v: Visit) -> tuple[float, Array]:
        """Return the same, and the weighted slopes."""
        return v.cut_residuals(self.delta, -2.0)

    def shares(self, r: Array, unit: float) -> Array:
        """Return the smaller of 1 and δ over the residual's magnitude."""
        return np.asarray(self.delta / np.maximum(np.abs(r), self.delta))

    def majorize(self, Y: Data, A: Array, B: Array) -> Quadratic:
        """Bend nowhere more than squares do."""
        return self.bounded(2.0, Y, A, B)

    def atoms(self, Y: Data, P: cp.Expression) -> cp.Expression:
        """Return Huber's function for CVXPY."""
        return cp.huber(Y - P, self.delta)


@dataclass(frozen=True, eq=False, repr=False)
class Absolute(Robust):
    """The sum of the absolute values of the residuals.

    Reweighting and majorizers treat residuals close to zero as slightly larger than they are; a
    step that raises the loss because of this is rejected.

    Examples
    --------
    >>> Absolute().value(np.array([[0.5, -3.0]]), np.zeros((1, 1)), np.zeros((1, 2)))
    3.5
    """

    @property
    def degree(self) -> float:
        """One."""
        return 1.0

    def scaled(self, c: float) -> Absolute:
        """Divide the scale by c."""
        return replace(self, scale=self.scale / c)

    def entries(self, y: Array, p: Array) -> Array:
        """Return the magnitudes."""
        return np.abs(y - p)

    def slopes(self, y: Array, p: Array) -> Array:
        """Return the opposite of the signs."""
        return -np.sign(y - p)

    def shares(self, r: Array, unit: float) -> Array:
        """Return one over twice the magnitude of the residual."""
        least = max(_KINK * unit, float(np.finfo(r.dtype).tiny) ** 0.5)
        return np.asarray(0.5 / np.maximum(np.abs(r), least))

    def smoothed(self, Y: Data, A: Array, B: Array, part: float) -> Loss:
        """Return Huber's loss with slopes of one, and squares below a part of the mean residual."""
        delta = max(part * self._unit(Y, A, B), float(np.finfo(B.dtype).tiny) ** 0.5)
        return Huber(delta, weights=self.weights, scale=self.scale / (2 * delta))

    def atoms(self, Y: Data, P: cp.Expression) -> cp.Expression:
        """Return the magnitudes for CVXPY."""
        return cp.abs(Y - P)
