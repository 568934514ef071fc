"""Constraints as text in CVXPY's words, ``norm(W, 2, axis=0) >= 1``; no other code is run."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import ConicNMFError, InputError
from conicnmf.model.reading.constraints import Stated, constraint_terms, sort_constraints
from conicnmf.model.reading.sparseness import SparsenessBound, sparseness
from conicnmf.model.terms import Constraint
from conicnmf.settings import Count, checks_arguments

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.USub: operator.neg,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


@checks_arguments
def factors_of(shape: tuple[int, int], rank: Count) -> dict[str, cp.Variable]:
    """Return W and H of data of this shape as variables.

    Examples
    --------
    >>> factors_of((5, 4), 2)["H"].shape
    (2, 4)
    """
    shapes = {"W": (shape[0], rank), "H": (rank, shape[1])}
    return {name: cp.Variable(own, name, nonneg=True) for name, own in shapes.items()}


def constraints_on(variable: cp.Variable, stated: Sequence[Stated], axis: int) -> list[Constraint]:
    """Return what constraints and the sign of a variable state; components run along the axis.

    Examples
    --------
    >>> W = cp.Variable((4, 2), nonneg=True, name="W")
    >>> constraints_on(W, [W <= 1, cp.diff(W, axis=0) >= 0], 0)
    [Box(0, 1), Monotone(increasing=True, each='component')]
    """
    conditions = sort_constraints(variable, list(stated))
    return constraint_terms(conditions, axis, {variable.id: variable.name()})


def read_constraint(text: str, variables: Mapping[str, cp.Variable]) -> tuple[str, Stated]:
    """Return a constraint on one of the variables, and the name of that variable.

    Examples
    --------
    >>> W, H = cp.Variable((4, 2), name="W"), cp.Variable((2, 3), name="H")
    >>> read_constraint("norm(W[:2], 2, axis=0) >= 1", {"W": W, "H": H})[0]
    'W'
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise InputError("it must be one comparison by <=, >= or ==")
        stated = _value(node, variables)
        own = _mentioned(stated)
        if len(own) != 1:
            raise InputError(f"it must mention one of {', '.join(variables)}")
    except Exception as error:  # CVXPY raises anything where shapes do not fit
        said = (
            str(error) if isinstance(error, ConicNMFError) else f"{type(error).__name__}: {error}"
        )
        raise InputError(
            f"--constraint {text!r} cannot be read: {said.strip().splitlines()[0]}; try "
            "'norm(W, 2, axis=0) <= 1'"
        ) from error
    return own.pop(), stated


def _mentioned(stated: Any) -> set[str]:
    """Return the names of the variables of a constraint, none where it is no constraint at all."""
    if isinstance(stated, SparsenessBound):
        return {stated.variable.name()}
    return {v.name() for v in stated.variables()} if isinstance(stated, cp.Constraint) else set()


def _value(node: ast.AST | None, variables: Mapping[str, cp.Variable]) -> Any:
    """Return what a part of a constraint stands for."""

    def of(part: ast.AST | None) -> Any:
        return _value(part, variables)

    match node:
        case None:
            return None
        case ast.Constant(value=bool() | int() | float() | str() as plain):
            return plain
        case ast.Name(id=name) if name in variables:
            return variables[name]
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](of(left), of(right))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](of(left), of(right))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](of(operand))
        case ast.List(elts=parts):
            return np.array([of(part) for part in parts])
        case ast.Tuple(elts=parts):
            return tuple(map(of, parts))
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(of(lower), of(upper), of(step))
        case ast.Subscript(value=value, slice=places):
            return of(value)[of(places)]
        case ast.Attribute(value=value, attr="T"):
            return of(value).T
        case ast.Call(func=called, args=values, keywords=named):
            keys = {str(key.arg): of(key.value) for key in named}
            return _function(called)(*map(of, values), **keys)
    raise InputError(f"it may hold W, H, numbers and functions of CVXPY, got {ast.unparse(node)!r}")


def _function(called: ast.AST) -> Callable[..., Any]:
    """Return `sparseness`, or the function of CVXPY of this name."""
    match called:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="cp" | "cn"), attr=name):
            found: Any = sparseness if name == "sparseness" else getattr(cp, name, None)
            if found is sparseness or getattr(found, "__module__", "").startswith("cvxpy.atoms."):
                return found  # type: ignore[no-any-return]
    raise InputError(f"CVXPY has no function {ast.unparse(called)!r}")
