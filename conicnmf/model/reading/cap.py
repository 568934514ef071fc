"""Read `loss <= constant`, the one constraint that may contain several variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.constraints.nonpos import Inequality

from conicnmf.errors import InfeasibleError, ModelError
from conicnmf.model.reading.fits import read_part
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.parts import split
from conicnmf.model.reading.read_fit import ReadFit


def with_cap(fits: list[ReadFit], constraint: cp.Constraint) -> list[ReadFit]:
    """Return the fits with the one that the constraint bounds capped as it says."""
    found = [(place, _bound(fit, constraint)) for place, fit in enumerate(fits)]
    known = [(place, bound) for place, bound in found if bound is not None]
    if not known:
        raise ModelError(
            f"each constraint must mention one variable, but {shown(constraint)} mentions several, "
            "and is not an upper bound on a loss of the objective; split it, or move it into the "
            "objective"
        )
    place, bound = known[0]
    loss = fits[place].loss
    cap = loss.scale * bound
    if cap <= 0:
        raise InfeasibleError(f"the loss cannot be at most {cap:g}, as {shown(constraint)} asks")
    capped = replace(fits[place], loss=replace(loss, cap=min(cap, loss.cap)))
    return [*fits[:place], capped, *fits[place + 1 :]]


def _bound(fit: ReadFit, constraint: cp.Constraint) -> float | None:
    """Return the bound on the loss without its scale that the constraint states, if it does."""
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
    stated = read_part([(coefficient, part)])
    if stated is None or not _same_residual(stated, fit):
        return None
    return (limit - stated.offset) / stated.loss.scale


def _same_residual(one: ReadFit, other: ReadFit) -> bool:
    variables = [[v.id for v in fit.variables] for fit in (one, other)]
    shapes = [[len(chain.factors) for chain in fit.chains] for fit in (one, other)]
    weights = [getattr(fit.loss, "weights", None) for fit in (one, other)]
    kinds = [repr(replace(fit.loss, scale=1.0, cap=np.inf)) for fit in (one, other)]
    return (
        kinds[0] == kinds[1]
        and variables[0] == variables[1]
        and shapes[0] == shapes[1]
        and _equal(one.V, other.V)
        and (weights[0] is None) == (weights[1] is None)
        and (weights[0] is None or _equal(*weights))
    )


def _equal(one: Any, other: Any) -> bool:
    if sp.issparse(one) and sp.issparse(other):
        return bool(one.shape == other.shape and (one != other).nnz == 0)
    dense = not sp.issparse(one) and not sp.issparse(other)
    return bool(dense and np.array_equal(one, other))
