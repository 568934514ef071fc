"""Vectors and numbers among the variables are read as matrices of one column.

Each stands in the statement once more as ``reshape(X, shape)`` of a matrix X; what follows knows
matrices only, and how to read through a change of shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.reading.constraints import Stated
from conicnmf.model.reading.sparseness import SparsenessBound


def as_matrices(
    target: cp.Expression, stated: Sequence[Stated], variables: Sequence[cp.Variable]
) -> tuple[cp.Expression, list[Stated], dict[int, cp.Variable]]:
    """Return the statement over matrices, and the user's variable behind each of them by its id.

    Examples
    --------
    >>> x = cp.Variable(3, name="x")
    >>> target, _, own = as_matrices(cp.sum(x), [], [x])
    >>> target.variables()[0].shape, [v.shape for v in own.values()]
    ((3, 1), [(3,)])
    """
    matrices = {v.id: v if v.ndim == 2 else _matrix(v) for v in variables}
    own = {matrices[v.id].id: v for v in variables}
    places: dict[int, Any] = {
        id(v): cp.reshape(matrices[v.id], v.shape, order="F") for v in variables if v.ndim < 2
    }
    if not places:
        return target, list(stated), own
    moved = [
        _bound(c, matrices[c.variable.id], places)
        if isinstance(c, SparsenessBound)
        else c.tree_copy(places)
        for c in stated
    ]
    return target.tree_copy(places), moved, own


def _bound(bound: SparsenessBound, matrix: cp.Variable, places: dict[int, Any]) -> SparsenessBound:
    """Return the bound on the same part of a matrix of one column."""
    whole = bound.part is bound.variable
    part = matrix if whole else bound.part.tree_copy(places)
    return replace(bound, variable=matrix, part=part)


def _matrix(vector: cp.Variable) -> cp.Variable:
    """Return a variable of one column with the name, the signs and the bounds of a vector."""
    kept = {name: vector.attributes[name] for name in ("nonneg", "nonpos")}
    bounds = vector.attributes.get("bounds")
    if bounds is not None:
        bounds = [_column(bound) for bound in bounds]
    return cp.Variable((vector.size, 1), name=vector.name(), bounds=bounds, **kept)


def _column(bound: Any) -> Any:
    if isinstance(bound, cp.Expression):
        return bound  # refused where bounds are read
    values = np.asarray(bound)
    return values.reshape(-1, 1) if values.ndim == 1 else values
