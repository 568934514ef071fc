"""`sparseness(X, axis)`: a number for arrays, something to compare with a bound for variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError, ModelError
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.model.constraints.sparseness import Level, as_level
from conicnmf.settings import Rule, checks_arguments
from conicnmf.validate import as_numbers


@dataclass(frozen=True, eq=False)
class SparsenessBound:
    """A stated band for the sparseness of the columns (axis 0) or rows (axis 1) of a part."""

    variable: cp.Variable
    part: cp.Expression
    axis: int
    min: Level
    max: Level

    def __bool__(self) -> bool:
        raise ModelError(
            "a sparseness bound has no truth value; put it in the list of constraints, and write a "
            "two-sided band as two constraints: sparseness(W, axis=0) >= 0.4, ... <= 0.8"
        )


@dataclass(frozen=True, eq=False)
class SparsenessExpression:
    """The sparseness of a variable's part; compare it with a number to get a constraint."""

    variable: cp.Variable
    part: cp.Expression
    axis: int

    __array_ufunc__ = None  # lets NumPy's numbers stand on the left of a comparison

    def __ge__(self, s: Any) -> SparsenessBound:
        return self._between(s, 1.0)

    def __le__(self, s: Any) -> SparsenessBound:
        return self._between(0.0, s)

    def __eq__(self, s: Any) -> SparsenessBound:  # type: ignore[override]
        return self._between(s, s)

    def __gt__(self, s: Any) -> SparsenessBound:
        raise ModelError(f"bounds on sparseness are not strict, got > {s}; write >= or <=")

    __lt__ = __gt__

    def __neg__(self, *_: Any) -> Any:
        raise ModelError(
            "sparseness belongs in a constraint, for example sparseness(W, axis=0) >= 0.8; to reward "
            "it in the objective, use the term SparsenessReward(weight) in factorize"
        )

    # CVXPY asks for the number where it adds; numbers multiply.
    __float__ = __mul__ = __rmul__ = __add__ = __radd__ = __sub__ = __rsub__ = __neg__

    def _between(self, low: Any, high: Any) -> SparsenessBound:
        own = (_level(s) for s in (low, high))
        return SparsenessBound(self.variable, self.part, self.axis, *own)


Axis: TypeAlias = Annotated[
    Literal[0, 1], Rule(remedy="0 is each column, as for W; 1 is each row, as for H")
]


@checks_arguments
def sparseness(X: Any, axis: Axis = 0) -> Any:
    """Return the Hoyer sparseness (√n − ‖x‖₁/‖x‖₂)/(√n − 1) of each column or row of X.

    Parameters
    ----------
    X : array, cvxpy.Variable or a part of one
        For a variable or a part such as ``W[:6]`` or ``W[:, 0]``, the outcome can be compared with
        a number, or with one for each piece, to state a constraint.
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
    if isinstance(X, cp.Expression):
        return SparsenessExpression(_selected_from(X), X, axis)
    numbers = as_numbers(X, "X")
    if not axis < numbers.ndim <= 2:
        raise InputError(
            f"sparseness along axis {axis} needs a matrix, or a vector along axis 0, got shape "
            f"{numbers.shape}; reshape it"
        )
    pieces = numbers.T if axis == 0 else numbers
    found = hoyer_sparseness(np.ascontiguousarray(np.atleast_2d(pieces), dtype=float))
    return found if numbers.ndim == 2 else found[0]


def _level(s: Any) -> Any:
    """Return a level as numbers; a parameter gets its value later."""
    if isinstance(s, cp.Expression) and s.is_constant():
        return s if s.parameters() else as_level(s.value, "a bound on sparseness")
    return as_level(s, "a bound on sparseness")


def _selected_from(X: cp.Expression) -> cp.Variable:
    """Return the variable that an expression is a part of, or raise."""
    found = X.variables()
    if len(found) == 1 and X.ndim and (X is found[0] or entries_of(X, found[0]) is not None):
        return found[0]
    raise ModelError(
        f"sparseness takes a factor variable or a part of one, got the expression {X}; write "
        "cn.sparseness(W, axis=0) or cn.sparseness(W[:6], axis=0)"
    )


def entries_of(X: cp.Expression, variable: cp.Variable) -> NDArray[np.intp] | None:
    """Return which entry of the variable, counted row by row, stands where; nothing for no selection.

    Examples
    --------
    >>> W = cp.Variable((2, 3))
    >>> entries_of(W[:, 1:].T, W), entries_of(2 * W, W)
    (array([[1, 4],
           [2, 5]]), None)
    """
    counted = np.arange(variable.size).reshape(variable.shape)
    if X is variable:
        return counted
    if not X.is_affine():
        return None
    # What stands there for two sets of numbers stands there for all.
    drawn = np.random.default_rng(0).random(variable.size)
    values = (
        np.asarray(X.tree_copy({id(variable): cp.Constant(own)}).value)
        for own in (counted, drawn.reshape(variable.shape))
    )
    places, seen = np.rint(next(values)).astype(np.intp), next(values)
    inside = (places >= 0) & (places < variable.size)
    return places if inside.all() and np.array_equal(drawn[places], seen) else None
