"""Steps that stay where the objective is finite.

A cone solver stops just outside of bounds, and what is clipped or projected lies on them. There a
divergence or a logarithm may be infinite, and no later step would find back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conicnmf.types import Array

_SHARES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)


def kept_finite(value: Callable[[Array], float], B: Array, new: Array) -> tuple[Array, float]:
    """Return `new` and its value, or where that is infinite the best point on the way back to B.

    The objective is convex and finite at B, so it is finite everywhere in between.

    Examples
    --------
    >>> inside = lambda X: float(1 - X.sum()) if X.sum() < 1 else np.inf
    >>> point, reached = kept_finite(inside, np.zeros((1, 1)), np.ones((1, 1)))
    >>> bool(0 < reached < 1e-8)
    True
    """
    reached = value(new)
    if np.isfinite(reached) or not np.isfinite(value(B)):
        return new, reached
    between = [new + B.dtype.type(share) * (B - new) for share in _SHARES]
    best = min([*between, B], key=value)
    return best, value(best)
