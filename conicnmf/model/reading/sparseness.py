"""`sparseness(X, axis)`: a number for arrays, something to compare with a bound for variables."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, Literal, TypeAlias

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError, ModelError
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.settings import Rule, door
from conicnmf.validate import as_numbers


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

    __array_ufunc__ = None  # lets NumPy's numbers stand on the left of a comparison

    def __ge__(self, s: Any) -> SparsenessBound:
        return SparsenessBound(self.variable, self.axis, _number(s), 1.0)

    def __le__(self, s: Any) -> SparsenessBound:
        return SparsenessBound(self.variable, self.axis, 0.0, _number(s))

    def __eq__(self, s: Any) -> SparsenessBound:  # type: ignore[override]
        return SparsenessBound(self.variable, self.axis, _number(s), _number(s))

    def __gt__(self, s: Any) -> SparsenessBound:
        raise ModelError(f"bounds on sparseness are not strict, got > {s}; write >= or <=")

    __lt__ = __gt__


Axis: TypeAlias = Annotated[
    Literal[0, 1], Rule(remedy="0 is each column, as for W; 1 is each row, as for H")
]


@door
def sparseness(X: Any, axis: Axis = 0) -> Any:
    """Return the Hoyer sparseness (√n − ‖x‖₁/‖x‖₂)/(√n − 1) of each column or row of X.

    Parameters
    ----------
    X : array or cvxpy.Variable
        For a variable, the outcome can be compared with a number to state a constraint.
    axis : int
        0 for each column, 1 for each row, as in NumPy and CVXPY; 0 for a vector.

    Returns
    -------
    array or expression
        NaN for zero vectors, where sparseness is undefined.

    Examples
    --------
    >>> import numpy as np
    >>> sparseness(np.array([[1.0, 0.0], [1.0, 3.0]]), axis=0).round(6)
    array([0., 1.])
    """
    if isinstance(X, cp.Variable):
        return SparsenessExpression(X, axis)
    if isinstance(X, cp.Expression):
        raise ModelError(
            f"sparseness takes a factor variable, got the expression {X}; the drivers handle "
            "bounds on W or H themselves, so state it on the variable"
        )
    numbers = as_numbers(X, "X")
    if not axis < numbers.ndim <= 2:
        raise InputError(
            f"sparseness along axis {axis} needs a matrix, or a vector along axis 0, got shape "
            f"{numbers.shape}; reshape it"
        )
    pieces = numbers.T if axis == 0 else numbers
    found = hoyer_sparseness(np.ascontiguousarray(np.atleast_2d(pieces), dtype=float))
    return found if numbers.ndim == 2 else found[0]


def _number(s: Any) -> float:
    if isinstance(s, bool) or not isinstance(s, Real):
        raise ModelError(
            f"sparseness is bounded by one number for all components, got {s!r}; "
            "use a number between 0 and 1"
        )
    return float(s)
