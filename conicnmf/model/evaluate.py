"""Values of CVXPY expressions: infinite outside of where they are defined, never a warning."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def evaluate(expression: cp.Expression) -> float:
    """Return the value of a scalar expression of constants.

    Examples
    --------
    >>> evaluate(-cp.log(cp.Constant(-1.0)))
    inf
    """
    with np.errstate(all="ignore"):
        value = float(expression.value)
    return np.inf if np.isnan(value) else value
