"""From CVXPY expressions over two factors to terms; nothing a user writes is dropped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.addends import Addend, Chain, Coupling, Fit, Ref
from conicnmf.model.reading.cap import with_cap
from conicnmf.model.reading.constraints import Stated, constraint_terms, sort_constraints
from conicnmf.model.reading.curvature import require_plain
from conicnmf.model.reading.generic import Bounds, read_generic
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import Part, split
from conicnmf.model.reading.penalties import read_penalty
from conicnmf.model.reading.roles import Factor
from conicnmf.model.reading.sparseness import SparsenessBound, sparseness
from conicnmf.model.reading.squares import ReadLoss, read_squares
from conicnmf.model.reading.values import require_numbers
from conicnmf.model.reading.verify_reading import agrees
from conicnmf.model.terms import Term
from conicnmf.model.variables import Variable
from conicnmf.validate import as_data

__all__ = ["Reading", "read_problem", "sparseness"]


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement read into variables with their terms and into addends."""

    variables: dict[str, Variable]
    addends: tuple[Addend, ...]
    offset: float
    sources: dict[int, tuple[str, bool]]


def read_problem(objective: Any, constraints: Any = ()) -> Reading:
    """Read an objective and constraints over exactly two factor variables.

    The left factor of the product is W, the right one H; where both are written transposed, the
    product is that of the transposed model.
    """
    target = _target(objective)
    stated = _checked(constraints)
    found = _two_variables(target, stated)
    joint = [c for c in stated if isinstance(c, cp.Constraint) and len(c.variables()) == 2]
    stated = [c for c in stated if not any(c is other for other in joint)]
    conditions = {
        variable.id: sort_constraints(variable, _about(variable, stated)) for variable in found
    }
    bounds = {id_: found.bounds for id_, found in conditions.items()}
    parts = split(target)
    reading = _read_loss(parts.joint, bounds)
    for constraint in joint:
        reading = with_cap(reading, constraint)
    roles = {"W": reading.W, "H": reading.H}
    names = {factor.variable.id: name for name, factor in roles.items()}
    variables = {}
    for name, factor in roles.items():
        as_rows = (name == "H") != factor.flipped  # a component is a row of the user's variable
        own: list[Term] = list(
            constraint_terms(conditions[factor.variable.id], int(as_rows), names)
        )
        own += [
            read_penalty(coefficient, part, bounds[factor.variable.id], names)
            for coefficient, part in parts.single
            if part.variables()[0].id == factor.variable.id
        ]
        terms = tuple(own) if as_rows else tuple(term.transposed() for term in own)
        variables[name] = Variable(name, factor.shape, terms, flipped=name == "W")
    sources = {factor.variable.id: (name, factor.flipped) for name, factor in roles.items()}
    offset = parts.offset + reading.offset
    return Reading(variables, (_addend(reading, roles),), offset, sources)


def _addend(reading: ReadLoss, roles: dict[str, Factor]) -> Addend:
    """Return the fit that was read, or the expression kept as it is with what it compares."""
    data = as_data(reading.V)
    fit = Fit(data, reading.loss, (Chain((Ref("W"), Ref("H"))),))
    reading.loss.check(data.shape)
    if reading.form is None:
        return fit
    places = {name: (factor.variable, factor.flipped) for name, factor in roles.items()}
    return Coupling(reading.form, places, fit)


def _read_loss(parts: list[Part], bounds: Bounds) -> ReadLoss:
    """Return the loss stated by the addends that mention both factors."""
    if not parts:
        raise ModelError(
            "the objective must contain a product W @ H of the two factors, got none; "
            "for example cp.sum_squares(V - W @ H)"
        )
    for coefficient, part in parts:
        if not 0 < abs(coefficient) < np.inf:
            raise ModelError(
                f"the loss must have a finite weight other than 0, got {coefficient:g} times "
                f"{shown(part)}; leave the factor out"
            )
    if len(parts) == 1:
        reading = read_squares(*parts[0])
        if reading is not None:
            as_data(reading.V)  # the comparison needs numbers of a usual size
            if agrees(reading, *parts[0]):
                return reading
    return read_generic(parts, bounds)


def _target(objective: Any) -> cp.Expression:
    if isinstance(objective, cp.Minimize):
        return objective.args[0]
    if isinstance(objective, cp.Maximize):
        return -objective.args[0]
    raise ModelError(
        f"the objective must be cp.Minimize(...) or cp.Maximize(...), got {type(objective).__name__};"
        " wrap the expression, or use cn.factorize(V, rank) for a model from terms"
    )


def _checked(constraints: Any) -> list[Stated]:
    if isinstance(constraints, (cp.Constraint, SparsenessBound)):
        constraints = [constraints]
    stated = list(constraints) if isinstance(constraints, Iterable) else [constraints]
    for constraint in stated:
        if not isinstance(constraint, (cp.Constraint, SparsenessBound)):
            raise ModelError(
                f"constraints must be CVXPY constraints or bounds on cn.sparseness, got "
                f"{constraint!r}; terms like cn.NonNegative() belong to cn.factorize"
            )
    return stated


def _two_variables(target: cp.Expression, stated: list[Stated]) -> list[cp.Variable]:
    found = {variable.id: variable for variable in target.variables()}
    for constraint in stated:
        found |= {variable.id: variable for variable in _variables(constraint)}
    variables = list(found.values())
    if len(variables) != 2 or len(target.variables()) != 2:
        names = ", ".join(str(variable) for variable in variables) or "none"
        raise ModelError(
            f"a factorization has exactly two factor variables, both in the objective, got {names}; "
            "use constants for what is known"
        )
    for node in (target, *(c for c in stated if isinstance(c, cp.Constraint))):
        if node.parameters():
            listed = ", ".join(map(str, node.parameters()))
            raise ModelError(
                f"a model holds numbers, no parameters, got {listed} in {shown(node)}; "
                "put their values in as constants"
            )
        require_numbers(node)
    for variable in variables:
        require_plain(variable)
    return variables


def _variables(constraint: Stated) -> list[cp.Variable]:
    if isinstance(constraint, SparsenessBound):
        return [constraint.variable]
    return list(constraint.variables())


def _about(variable: cp.Variable, stated: list[Stated]) -> list[Stated]:
    """Return the constraints on one variable; raise for those on none."""
    own = []
    for constraint in stated:
        mentioned = _variables(constraint)
        if len(mentioned) != 1:
            raise ModelError(
                f"each constraint speaks of one factor, but {shown(constraint)} mentions none; "
                "leave it out"
            )
        if mentioned[0].id == variable.id:
            own.append(constraint)
    return own
