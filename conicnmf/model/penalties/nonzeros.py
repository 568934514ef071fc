"""A price for every entry that is not zero: the l0 cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.model.constraints.entrywise import Box
from conicnmf.model.terms import Constraint, Weighted
from conicnmf.types import Array


@dataclass(frozen=True)
class NonZeros(Weighted):
    """The penalty weight · ‖B‖₀: each entry that is not zero costs the same, whatever its size.

    On H it is a sum over samples, weight · ‖h‖₀ for each. It is not convex and has no slope: `HALS`
    takes its exact steps, and `KSVD` changes the supports of whole samples. It does not depend on
    scale, so the other factor needs no bound.

    Parameters
    ----------
    weight : float
        An entry is kept only if it lowers the rest of the objective by more than this. Coders take
        the square root, `coding.ForwardBackward(np.sqrt(weight))`.

    References
    ----------
    O'Hanlon and Plumbley, Learning overcomplete dictionaries with l0-sparse non-negative matrix
    factorisation, GlobalSIP 2013.

    Examples
    --------
    >>> import numpy as np
    >>> NonZeros(0.5).value(np.array([[0.0, -3.0, 1e-9]]))
    1.0
    >>> NonZeros(0.5).prox(np.array([[0.9, -3.0, 1.1]]), step=1.0)
    array([[ 0. , -3. ,  1.1]])
    """

    each = "entry"
    sign_free: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return the weighted number of entries that are not zero."""
        return self.weight * float(np.count_nonzero(B))

    def prox(self, B: Array, step: float) -> Array:
        """Keep what is larger than √(2 step · weight): dropping b costs b²/(2 step)."""
        return np.where(np.abs(B) > np.sqrt(2 * step * self.weight), B, 0).astype(B.dtype)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Keep the positive entries that are large enough."""
        return self.prox(np.maximum(B, 0), step)

    def price(self) -> float:
        """Return the weight."""
        return self.weight

    def constant_on(self, P: Array) -> Constraint:
        """Return the factors with the zeros of P, none of which costs more."""
        kept = np.where(P != 0, np.inf, 0.0)
        return Box(-kept, kept)

    def scaled(self, c: float) -> NonZeros:
        """Return the same: it does not depend on scale."""
        return self
