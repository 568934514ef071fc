"""Expressions as short text for messages and tables: no data matrix is printed in full."""

from __future__ import annotations

import re

import cvxpy as cp

_SHORT = 4
_PROMOTED = re.compile(r"Promote\(([^(),]+), \([^()]*\)\)")
_VECTOR = re.compile(r"reshape\(([^(),]+), \(\d*,?\), F\)")
_WRAPPED = re.compile(r"non(?:neg|pos)_wrap\(([^()]*)\)")


def shown(node: cp.Expression | cp.Constraint, names: dict[int, str] | None = None) -> str:
    """Return one line for an expression or a constraint, with long constants by their shape.

    Parameters
    ----------
    node : expression or constraint
    names : dict, optional
        What to call the variables, by their id.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> W = cp.Variable((3, 2), name="W")
    >>> shown(np.ones((3, 2)) - 2 * W)
    '[3×2] + -(2.0 * W)'
    """
    places: dict[int, cp.Expression] = {}
    for leaf in node.constants():
        if leaf.size > _SHORT:
            label = "[" + "×".join(map(str, leaf.shape)) + "]"
            places[id(leaf)] = cp.Constant(leaf.value, name=label)
    for variable in node.variables():
        name = (names or {}).get(variable.id)
        if name is not None:
            places[id(variable)] = cp.Variable(variable.shape, name=name)
    text = str(node.tree_copy(places)) if places else str(node)
    for pattern in (_VECTOR, _PROMOTED, _WRAPPED):
        text = pattern.sub(r"\1", text)
    return " ".join(text.replace("Approx(", "(").split())
