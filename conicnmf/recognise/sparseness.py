"""`sparseness(X, axis)`: a number for arrays, something to compare with a bound for variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import cvxpy as cp
import numpy as np

from conicnmf._types import Array
from conicnmf.errors import InputError, ModelError
from conicnmf.kernels.hoyer import hoyer_sparseness


@dataclass(frozen=True, eq=False)
class SparsenessBound:
    """A stated band for the sparseness of a variable's columns (axis 0) or rows (axis 1)."""

    variable: cp.Variable
    axis: int
    min: float
    max: float

    def __bool__(self) -> bool:
        raise ModelError(
            "a sparseness bound has no truth value; put it in the list of constraints, and write a "
            "two-sided band as two constraints: sparseness(W, axis=0) >= 0.4, ... <= 0.8"
        )


@dataclass(frozen=True, eq=False)
class SparsenessExpression:
    """The sparseness of a variable; compare it with a number to get a constraint."""

    variable: cp.Variable
    axis: int

    def __ge__(self, s: float) -> SparsenessBound:
        return SparsenessBound(self.variable, self.axis, float(s), 1.0)

    def __le__(self, s: float) -> SparsenessBound:
        return SparsenessBound(self.variable, self.axis, 0.0, float(s))

    def __eq__(self, s: object) -> SparsenessBound:  # type: ignore[override]
        if not isinstance(s, (int, float, np.number)):
            raise ModelError(f"sparseness can be equal to a number only, got {s!r}")
        return SparsenessBound(self.variable, self.axis, float(s), float(s))


@overload
def sparseness(X: cp.Variable, axis: int) -> SparsenessExpression: ...
@overload
def sparseness(X: Any, axis: int) -> Array: ...
def sparseness(X: Any, axis: int = 0) -> Array | SparsenessExpression:
    """Return the Hoyer sparseness (√n − ‖x‖₁/‖x‖₂)/(√n − 1) of each column or row of X.

    Parameters
    ----------
    X : array or cvxpy.Variable
        For a variable, the outcome can be compared with a number to state a constraint.
    axis : int
        0 for each column, 1 for each row, as in NumPy and CVXPY.

    Returns
    -------
    array or expression
        NaN for zero vectors, where sparseness is undefined.

    Examples
    --------
    >>> import numpy as np
    >>> sparseness(np.array([[1.0, 0.0], [1.0, 3.0]]), axis=0)
    array([0., 1.])
    """
    if axis not in (0, 1):
        raise InputError(f"sparseness needs axis 0 (columns) or 1 (rows), got {axis!r}")
    if isinstance(X, cp.Variable):
        return SparsenessExpression(X, axis)
    if isinstance(X, cp.Expression):
        raise ModelError(
            f"sparseness takes a factor variable, got the expression {X}; the drivers handle "
            "bounds on W or H themselves, so state it on the variable"
        )
    matrix = np.atleast_2d(np.asarray(X, dtype=float))
    return hoyer_sparseness(np.ascontiguousarray(matrix if axis == 1 else matrix.T))
