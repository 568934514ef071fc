"""Find the part of an expression that breaks the biconvex rules, so that errors can name it."""

from __future__ import annotations

import cvxpy as cp

from conicnmf.errors import ModelError

_ATTRIBUTES = ("nonneg", "nonpos", "bounds")


def culprit(expression: cp.Expression) -> cp.Expression:
    """Return the deepest sub-expression that is not DCP."""
    for argument in expression.args:
        if not argument.is_dcp():
            return culprit(argument)
    return expression


def require_convex(expression: cp.Expression, original: cp.Expression, where: str) -> None:
    """Raise a `ModelError` unless the expression is convex."""
    if expression.is_convex():
        return
    part = culprit(expression)
    if part is expression and part.is_dcp():
        got = f"{original} is {part.curvature.lower()}"
    else:
        got = f"{part} is {part.curvature.lower()}"
    raise ModelError(
        f"{where} must be convex, but {got}, needed convex; a model may multiply W with H, and "
        "otherwise follows CVXPY's rules for each factor with the other one held fixed"
    )


def require_plain(variable: cp.Variable) -> None:
    """Raise a `ModelError` for matrix variables with attributes the solvers cannot keep."""
    if variable.ndim != 2:
        raise ModelError(f"factors are matrices, got variable {variable} of shape {variable.shape}")
    used = [
        name
        for name, value in variable.attributes.items()
        if name not in _ATTRIBUTES and value is not False and value is not None
    ]
    if used:
        raise ModelError(
            f"factor {variable} has the attribute {', '.join(used)}; only {', '.join(_ATTRIBUTES)} "
            "are convex descriptions the drivers can keep, so state it as a constraint or drop it"
        )
