"""Read `loss <= constant`, the one constraint that may speak of both factors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.constraints.nonpos import Inequality

from conicnmf.errors import InfeasibleError, ModelError
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import split
from conicnmf.model.reading.squares import ReadLoss, read_squares


def with_cap(reading: ReadLoss, constraint: cp.Constraint) -> ReadLoss:
    """Return the reading with its loss capped as the constraint says."""
    loss: Any = reading.loss
    bound = _bound(reading, constraint)
    if bound is None or reading.form is not None:
        raise ModelError(
            f"each constraint speaks of one factor, but {shown(constraint)} mentions both, and is "
            "no upper bound on the loss; split it, or move it into the objective"
        )
    cap = loss.scale * bound
    if cap <= 0:
        raise InfeasibleError(f"the loss cannot be at most {cap:g}, as {shown(constraint)} asks")
    return replace(reading, loss=replace(loss, cap=min(cap, loss.cap)))


def _bound(reading: ReadLoss, constraint: cp.Constraint) -> float | None:
    """Return the bound on the squared residual that the constraint states, if it does."""
    if not isinstance(constraint, Inequality) or not constraint.expr.is_scalar():
        return None
    parts = split(constraint.args[0] - constraint.args[1])
    if len(parts.joint) != 1 or parts.single:
        return None
    coefficient, part = parts.joint[0]
    limit = -parts.offset
    if isinstance(part, Pnorm) and coefficient > 0:
        # A bound on the norm is one on its square.
        coefficient, part, limit = 1.0, cp.square(part), max(limit / coefficient, 0.0) ** 2
    stated = read_squares(coefficient, part)
    if stated is None or not _same_residual(stated, reading):
        return None
    scale: float = stated.loss.scale  # type: ignore[attr-defined]
    return (limit - stated.offset) / scale


def _same_residual(one: ReadLoss, other: ReadLoss) -> bool:
    variables = [(r.W.variable.id, r.H.variable.id) for r in (one, other)]
    weights = [getattr(r.loss, "weights", None) for r in (one, other)]
    return (
        variables[0] == variables[1]
        and _equal(one.V, other.V)
        and (weights[0] is None) == (weights[1] is None)
        and (weights[0] is None or _equal(*weights))
    )


def _equal(one: Any, other: Any) -> bool:
    if sp.issparse(one) and sp.issparse(other):
        return bool(one.shape == other.shape and (one != other).nnz == 0)
    dense = not sp.issparse(one) and not sp.issparse(other)
    return bool(dense and np.array_equal(one, other))
