"""From CVXPY expressions over two factors to terms; nothing a user writes is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp

from conicnmf.errors import ModelError
from conicnmf.recognise.constraints import read_constraints
from conicnmf.recognise.curvature import require_plain
from conicnmf.recognise.objective import Factor, addends, read_loss, read_penalty
from conicnmf.recognise.sparseness import SparsenessBound, sparseness
from conicnmf.terms import Loss, Term

__all__ = ["Recognised", "recognise", "sparseness"]


@dataclass(frozen=True, eq=False)
class Recognised:
    """A statement read into terms; the terms of W and H are in block orientation."""

    V: Any
    rank: int
    loss: Loss
    W: tuple[Term, ...]
    H: tuple[Term, ...]
    offset: float
    shapes: tuple[tuple[int, int], tuple[int, int]]


def recognise(objective: Any, constraints: Iterable[Any] = ()) -> Recognised:
    """Read an objective and constraints over exactly two factor variables."""
    target = _target(objective)
    stated = _flatten(constraints)
    variables = _two_variables(target, stated)
    joint, single, offset = _split(target)
    reading = read_loss(joint)
    factors = {"W": reading.W, "H": reading.H}
    by_name = {factor.variable.id: name for name, factor in factors.items()}
    if set(by_name) != {variable.id for variable in variables}:
        raise ModelError("the product in the loss must be of the two factor variables themselves")
    terms: dict[str, list[Term]] = {"W": [], "H": []}
    for name, factor in factors.items():
        own = [c for c in stated if _owner(c, by_name) == name]
        component_axis = int((name == "H") != factor.flipped)
        terms[name] += read_constraints(factor.variable, own, component_axis)
        terms[name] += [
            read_penalty(coefficient, part, factor)
            for coefficient, part in single
            if by_name[part.variables()[0].id] == name
        ]
    W, H = (tuple(_to_block(name, factors[name], terms[name])) for name in ("W", "H"))
    shapes = (reading.W.shape, reading.H.shape)
    if shapes[0][1] != shapes[1][0]:
        raise ModelError(f"W {shapes[0]} and H {shapes[1]} must share the rank; multiply W @ H")
    return Recognised(reading.V, shapes[0][1], reading.loss, W, H, offset, shapes)


def _to_block(name: str, factor: Factor, terms: list[Term]) -> list[Term]:
    """Turn terms on the user's variable into terms on the block, whose rows are components."""
    as_rows = (name == "H") != factor.flipped
    return terms if as_rows else [term.transposed() for term in terms]


def _target(objective: Any) -> cp.Expression:
    if isinstance(objective, cp.Minimize):
        return objective.args[0]
    if isinstance(objective, cp.Maximize):
        return -objective.args[0]
    raise ModelError(
        f"the objective must be cp.Minimize(...) or cp.Maximize(...), got {type(objective).__name__};"
        " wrap the expression, or use cn.factorize(V, rank) for a model from terms"
    )


def _flatten(constraints: Iterable[Any]) -> list[cp.Constraint | SparsenessBound]:
    stated = list(constraints)
    for constraint in stated:
        if not isinstance(constraint, (cp.Constraint, SparsenessBound)):
            raise ModelError(
                f"constraints must be CVXPY constraints or bounds on cn.sparseness, got "
                f"{constraint!r}; terms like cn.NonNegative() belong to cn.factorize"
            )
    return stated


def _two_variables(
    target: cp.Expression, stated: list[cp.Constraint | SparsenessBound]
) -> list[cp.Variable]:
    found = {variable.id: variable for variable in target.variables()}
    for constraint in stated:
        for variable in _variables(constraint):
            found.setdefault(variable.id, variable)
    variables = list(found.values())
    if len(variables) != 2 or len(target.variables()) != 2:
        names = ", ".join(str(variable) for variable in variables) or "none"
        raise ModelError(
            f"a factorization has exactly two factor variables, both in the objective, got {names}; "
            "use constants for what is known"
        )
    if target.parameters():
        raise ModelError(
            f"the objective has parameters {target.parameters()}; put their values in as constants"
        )
    for variable in variables:
        require_plain(variable)
    return variables


def _split(
    target: cp.Expression,
) -> tuple[list[tuple[float, cp.Expression]], list[tuple[float, cp.Expression]], float]:
    """Split the objective into addends of both factors, of one factor, and a constant."""
    joint, single, offset = [], [], 0.0
    for coefficient, part in addends(target):
        mentioned = len(part.variables())
        if mentioned == 0:
            offset += coefficient * float(part.value)
        elif mentioned == 1:
            single.append((coefficient, part))
        else:
            joint.append((coefficient, part))
    return joint, single, offset


def _variables(constraint: cp.Constraint | SparsenessBound) -> list[cp.Variable]:
    if isinstance(constraint, SparsenessBound):
        return [constraint.variable]
    return list(constraint.variables())


def _owner(constraint: cp.Constraint | SparsenessBound, by_name: dict[int, str]) -> str:
    owners = {by_name[variable.id] for variable in _variables(constraint)}
    if len(owners) != 1:
        raise ModelError(
            f"each constraint speaks of one factor, but {constraint} mentions "
            f"{'both' if owners else 'none'}; split it, or move it into the objective"
        )
    return owners.pop()
