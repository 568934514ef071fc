"""Values of CVXPY expressions: infinite outside of where they are defined, never a warning."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError


def evaluate(expression: cp.Expression) -> float:
    """Return the value of a scalar expression of constants.

    Examples
    --------
    >>> evaluate(-cp.log(cp.Constant(-1.0)))
    inf
    """
    with np.errstate(all="ignore"):
        found = expression.value
    if found is None:
        raise InputError(
            f"an expression needs values for all its parameters, got {expression} without; set "
            "parameter.value"
        )
    value = float(found)
    return np.inf if np.isnan(value) else value
