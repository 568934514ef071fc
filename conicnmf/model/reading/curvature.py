"""Find the part of an expression that breaks the biconvex rules, so that errors can name it."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.wraps import nonneg_wrap, nonpos_wrap

from conicnmf.errors import ModelError
from conicnmf.model.reading.naming import shown
from conicnmf.types import Array

_ATTRIBUTES = ("nonneg", "nonpos", "bounds")


def culprit(expression: cp.Expression) -> cp.Expression:
    """Return the deepest sub-expression that is not DCP."""
    for argument in expression.args:
        if not argument.is_dcp():
            return culprit(argument)
    return expression


def require_convex(expression: cp.Expression, where: str, hint: str = "") -> None:
    """Raise a `ModelError` that names the culprit unless the expression is convex."""
    if expression.is_convex():
        return
    part = culprit(expression)
    raise ModelError(
        f"{where} must be convex, but {shown(part)} is {part.curvature.lower()}; write it with "
        "convex atoms: a model may multiply W with H, and otherwise follows CVXPY's rules for each "
        f"factor with the other one held fixed{hint}"
    )


def signed(X: cp.Expression, bounds: tuple[Array, Array]) -> cp.Expression:
    """Return X, known to CVXPY's rules as non-negative or non-positive where its bounds say so.

    A block hands terms a variable without attributes, and ``cp.square(cp.max(X))`` is convex only
    for X ≥ 0.
    """
    lower, upper = bounds
    if (lower >= 0).all():
        return nonneg_wrap(X)
    return nonpos_wrap(X) if (upper <= 0).all() else X


def require_plain(variable: cp.Variable) -> None:
    """Raise a `ModelError` for variables with three axes, or with attributes no solver keeps."""
    if variable.ndim > 2 or 0 in variable.shape:
        raise ModelError(
            f"factors are non-empty matrices, vectors or numbers, got variable {variable} of shape "
            f"{variable.shape}; make it cp.Variable((rows, columns))"
        )
    used = [
        name
        for name, value in variable.attributes.items()
        if name not in _ATTRIBUTES and np.any(value is not False and value is not None)
    ]
    if used:
        raise ModelError(
            f"factor {variable} has the attribute {', '.join(used)}; only {', '.join(_ATTRIBUTES)} "
            "are supported, so state it as a constraint or drop it"
        )
