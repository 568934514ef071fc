"""What a statement may consist of: an objective, constraints, and plain variables with numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cvxpy as cp

from conicnmf.errors import ModelError
from conicnmf.model.reading.constraints import Stated
from conicnmf.model.reading.curvature import require_plain
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.sparseness import SparsenessBound
from conicnmf.model.reading.values import require_numbers
from conicnmf.settings import listed
from conicnmf.settings import shown as shown_value


def target_of(objective: Any) -> cp.Expression:
    """Return what is to be minimized."""
    if isinstance(objective, cp.Minimize):
        return objective.args[0]
    if isinstance(objective, cp.Maximize):
        return -objective.args[0]
    raise ModelError(
        f"the objective must be cp.Minimize(...) or cp.Maximize(...), got {type(objective).__name__};"
        " wrap the expression, or use cn.factorize(V, rank) for a model from terms"
    )


def checked(constraints: Any) -> list[Stated]:
    """Return the constraints as a list of what can be read."""
    if isinstance(constraints, (cp.Constraint, SparsenessBound)):
        constraints = [constraints]
    stated = listed(constraints)
    stated = [constraints] if stated is None else stated
    for constraint in stated:
        if not isinstance(constraint, (cp.Constraint, SparsenessBound)):
            raise ModelError(
                f"constraints must be CVXPY constraints or bounds on cn.sparseness, got "
                f"{shown_value(constraint)}; terms like cn.NonNegative() belong to cn.factorize"
            )
    return stated


def parameters_of(objective: Any, stated: Iterable[Any]) -> tuple[cp.Parameter, ...]:
    """Return the parameters of a statement, each once, in the order in which they stand there.

    Examples
    --------
    >>> x, p, q = cp.Variable(), cp.Parameter(name="p"), cp.Parameter(name="q")
    >>> [own.name() for own in parameters_of(cp.Minimize(p * x), [x >= q, x <= p])]
    ['p', 'q']
    """
    parts: list[Any] = [objective]
    for constraint in stated:
        band = isinstance(constraint, SparsenessBound)
        parts += [constraint.min, constraint.max] if band else [constraint]
    kinds = (cp.Minimize, cp.Maximize, cp.Expression, cp.Constraint)
    found = [p for part in parts if isinstance(part, kinds) for p in part.parameters()]
    return tuple({p.id: p for p in found}.values())


def has_parameters(statement: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether the arguments of a problem hold parameters.

    Examples
    --------
    >>> has_parameters((cp.Minimize(cp.Variable()),), {})
    False
    """
    given = dict(zip(("objective", "constraints"), statement, strict=False)) | named
    constraints = given.get("constraints", ())
    # An iterator can be read once, and then by who reads the problem.
    listed = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    return bool(parameters_of(given.get("objective"), listed))


def variables_of(target: cp.Expression, stated: list[Stated]) -> list[cp.Variable]:
    """Return the variables of the objective; constraints may mention no others."""
    found = {variable.id: variable for variable in target.variables()}
    if not found:
        raise ModelError(
            "the objective must mention a variable, got none; for example "
            "cp.Minimize(cp.sum_squares(V - W @ H))"
        )
    for constraint in stated:
        for variable in _mentioned(constraint):
            if variable.id not in found:
                raise ModelError(
                    f"every variable must be in the objective, but {variable} appears in a constraint "
                    "alone; use constants for what is known, or leave the constraint out"
                )
    for node in (target, *(c for c in stated if isinstance(c, cp.Constraint))):
        require_numbers(node)
    for variable in found.values():
        require_plain(variable)
    return list(found.values())


def about(variable: cp.Variable, stated: list[Stated]) -> list[Stated]:
    """Return the constraints on one variable; raise for those on none."""
    own = []
    for constraint in stated:
        mentioned = _mentioned(constraint)
        if len(mentioned) != 1:
            raise ModelError(
                f"each constraint must mention one variable, but {shown(constraint)} mentions none; "
                "leave it out"
            )
        if mentioned[0].id == variable.id:
            own.append(constraint)
    return own


def _mentioned(constraint: Stated) -> list[cp.Variable]:
    if isinstance(constraint, SparsenessBound):
        return [constraint.variable]
    return list(constraint.variables())
