"""A problem stated with `cp.Parameter`s: the statement is kept, and read with their present values."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.problem import Problem
from conicnmf.model.reading.sparseness import SparsenessBound
from conicnmf.model.reading.statement import checked, parameters_of
from conicnmf.settings import AS_GIVEN, checks_arguments

_OWN = frozenset({"current", "named", "parameters"})


class ParametricProblem(Problem):
    """What `Problem` makes of a statement with parameters.

    Whatever you ask of it is answered by the problem with the values that the parameters have at that
    moment. So you state a model once and solve it again after you have set another value. A result
    belongs to the values with which it was found.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np, conicnmf as cn
    >>> V, price = np.ones((5, 4)), cp.Parameter(nonneg=True, name="price")
    >>> W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    >>> problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + price * cp.sum(H)))
    >>> price.value = 0.1
    >>> problem.H
    (NonNegative(), L1(weight=0.1))
    >>> price.value = 0.2
    >>> problem.H
    (NonNegative(), L1(weight=0.2))
    """

    @checks_arguments
    def __init__(
        self,
        objective: Annotated[Any, AS_GIVEN],
        constraints: Annotated[Any, AS_GIVEN] = (),
        *,
        feature_names: Annotated[Any, AS_GIVEN] = None,
        sample_names: Annotated[Any, AS_GIVEN] = None,
    ) -> None:
        stated = objective, checked(constraints)
        labels = {"feature_names": feature_names, "sample_names": sample_names}
        self.__dict__.update(_stated=stated, _labels=labels, _read=None)
        if all(p.value is not None for p in self.parameters):
            self.current()  # what is wrong with the statement is said now

    @property
    def parameters(self) -> tuple[cp.Parameter, ...]:
        """The parameters of the statement, in the order in which they stand there."""
        return parameters_of(*object.__getattribute__(self, "_stated"))

    def named(self, feature_names: Any = None, sample_names: Any = None) -> ParametricProblem:
        """Return the statement with names of features and samples."""
        stated = object.__getattribute__(self, "_stated")
        return ParametricProblem(*stated, feature_names=feature_names, sample_names=sample_names)

    def current(self) -> Problem:
        """Return the problem with the present values of the parameters as constants."""
        values = {p: _value_of(p) for p in self.parameters}
        known = object.__getattribute__(self, "_read")
        if known is None or not all(np.array_equal(known[0][p], v) for p, v in values.items()):
            objective, stated = object.__getattribute__(self, "_stated")
            places: Any = {id(p): cp.Constant(value) for p, value in values.items()}
            with_values = [
                _bound_with(c) if isinstance(c, SparsenessBound) else c.tree_copy(places)
                for c in stated
            ]
            labels = object.__getattribute__(self, "_labels")
            known = values, Problem(objective.tree_copy(places), with_values, **labels)
            self.__dict__["_read"] = known
        problem: Problem = known[1]
        return problem

    def __getattribute__(self, name: str) -> Any:
        """Answer by the problem of the present values, whatever a problem can be asked."""
        if name in _OWN or name.startswith("__"):
            return object.__getattribute__(self, name)
        return getattr(self.current(), name)

    def __repr__(self) -> str:
        waiting = [p.name() for p in self.parameters if p.value is None]
        if waiting:
            return f"Problem with parameters that have no value yet: {', '.join(waiting)}"
        return repr(self.current())

    def __reduce__(self) -> Any:
        """Send the problem of the present values elsewhere: parameters are this process's own."""
        return _itself, (self.current(),)


def _itself(problem: Problem) -> Problem:
    return problem


def _value_of(parameter: cp.Parameter) -> Any:
    if parameter.value is None:
        raise InputError(
            f"every parameter needs a value before the problem is looked at or solved, got none for "
            f"{parameter.name()}; set {parameter.name()}.value"
        )
    value = parameter.value
    return value.copy() if hasattr(value, "copy") else value


def _bound_with(bound: SparsenessBound) -> SparsenessBound:
    """Return a bound on sparseness with the value of the parameter that stands in it."""
    levels = {"min": bound.min, "max": bound.max}
    known = {name: s.value for name, s in levels.items() if isinstance(s, cp.Expression)}
    return replace(bound, **known)
