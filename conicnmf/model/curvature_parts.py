"""Sums of convex and concave parts, and the tangents of such parts by CVXPY's gradients."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.affine_atom import AffAtom

from conicnmf.errors import ModelError
from conicnmf.types import Array

_NUDGES = (0.0, 1e-9, -1e-9, 1e-6, -1e-6)
"""Where a gradient is missing at a point it is looked for so far from it, in parts of its size."""


def known_parts(expression: cp.Expression) -> list[cp.Expression]:
    """Return expressions of known curvature that add up to this one.

    Examples
    --------
    >>> x = cp.Variable(2)
    >>> [part.curvature for part in known_parts(2 * (cp.norm(x) - cp.norm1(x)) + 1)]
    ['CONVEX', 'CONCAVE', 'CONSTANT']
    """
    if expression.is_convex() or expression.is_concave():
        return [expression]
    if isinstance(expression, AddExpression):
        return [part for inner in expression.args for part in known_parts(inner)]
    free = [place for place, inner in enumerate(expression.args) if not inner.is_constant()]
    if isinstance(expression, AffAtom) and len(free) == 1:
        # Signs, factors, sums and slices of a sum are those of its parts.
        inside = known_parts(expression.args[free[0]])
        if len(inside) > 1:
            made = [_with(expression, free[0], part) for part in inside]
            return [part for each in made for part in known_parts(each)]
    raise ModelError(
        f"{expression} is {expression.curvature.lower()}, and no sum of convex and concave parts; "
        "write it with CVXPY's atoms, f(X) <= g(X) with both sides of known curvature"
    )


def _with(atom: AffAtom, place: int, part: cp.Expression) -> cp.Expression:
    args = list(atom.args)
    args[place] = part
    return atom.copy(args)


def halves(expression: cp.Expression) -> tuple[cp.Expression, cp.Expression]:
    """Return what is convex in a sum, with its affine parts, and what is concave; 0 where nothing is.

    Examples
    --------
    >>> x = cp.Variable(2)
    >>> convex, concave = halves(cp.norm1(x) - 2 * cp.norm(x))
    >>> convex.curvature, concave.curvature
    ('CONVEX', 'CONCAVE')
    """
    parts = known_parts(expression)
    zero = cp.Constant(np.zeros(expression.shape))
    convex = sum((part for part in parts if part.is_convex()), start=zero)
    concave = sum((part for part in parts if not part.is_convex()), start=zero)
    return convex, concave


def values_of(expression: cp.Expression) -> Array:
    """Return the entries of an expression of constants, column by column, without a warning."""
    with np.errstate(all="ignore"):
        return np.ravel(np.asarray(expression.value, dtype=float), order="F")


def gradient_at(expression: cp.Expression, X: cp.Variable) -> sp.csr_array | None:
    """Return the gradient at the value of X: a row for each entry, a column for each of X by rows.

    CVXPY has none where an atom has no finite slope, such as a logarithm at zero.

    Examples
    --------
    >>> X = cp.Variable((2, 2), value=np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gradient_at(cp.sum_squares(X), X).toarray()
    array([[2., 4., 6., 8.]])
    """
    with np.errstate(all="ignore"):
        try:
            found = expression.grad.get(X, 0.0)
        except TypeError:  # CVXPY adds a gradient that there is to one that there is not
            return None
    if found is None:
        return None
    if not sp.issparse(found):  # of a single number, or of nothing
        found = sp.csr_array(np.broadcast_to(found, (X.size, expression.size)))
    by_rows = np.arange(X.size).reshape(X.shape, order="F").ravel()
    slopes = sp.csr_array(sp.csr_array(found)[by_rows].T)
    return slopes if np.isfinite(slopes.data).all() else None


def gradient_near(expression: cp.Expression, X: cp.Variable, P: Array) -> sp.csr_array | None:
    """Return the gradient at P or at a point next to it, which X has as its value afterwards.

    Examples
    --------
    >>> X = cp.Variable((1, 2))
    >>> bool((gradient_near(cp.sum(cp.sqrt(X)), X, np.zeros((1, 2))).data > 1e3).all())
    True
    """
    size = float(np.abs(P).max(initial=0.0)) or 1.0
    for nudge in _NUDGES:
        X.value = P + nudge * size
        slopes = gradient_at(expression, X)
        if slopes is not None and np.isfinite(values_of(expression)).all():
            return slopes
    return None
