"""How accurately constraints must hold."""

from __future__ import annotations

import numpy as np

from conicnmf.types import Factors

FEASIBLE = 1e-6
"""A point is feasible when no constraint is violated by more than this, ten times that in float32."""

INSIDE = 1e-7
"""What a method asks of its own steps, so that rounding does not take them over `FEASIBLE`."""


def feasible_within(factors: Factors) -> float:
    """Return the violation up to which factors of this precision count as feasible.

    Examples
    --------
    >>> [feasible_within({"W": np.ones(2, dtype=kind)}) for kind in (np.float64, np.float32)]
    [1e-06, 9.999999999999999e-06]
    """
    single = any(X.dtype == np.float32 for X in factors.values())
    return 10 * FEASIBLE if single else FEASIBLE
