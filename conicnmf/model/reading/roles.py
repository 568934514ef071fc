"""Which variable of a product is W and which is H, transposes and factors included."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
from cvxpy.atoms.affine.transpose import transpose

from conicnmf.errors import ModelError
from conicnmf.model.reading.values import scaled_by


@dataclass(frozen=True, eq=False)
class Factor:
    """A variable in its role: `flipped` when it is the transpose of the factor it stands for."""

    variable: cp.Variable
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the factor, W as features × rank and H as rank × samples."""
        rows, columns = self.variable.shape
        return (columns, rows) if self.flipped else (rows, columns)


@dataclass(frozen=True, eq=False)
class Roles:
    """The product as scale · W H, or as the transpose of that when `flipped`."""

    W: Factor
    H: Factor
    scale: float = 1.0
    flipped: bool = False


def is_product(expression: cp.Expression) -> bool:
    """Whether the expression is a matrix product of one factor with the other."""
    if not isinstance(expression, MulExpression) or isinstance(expression, multiply):
        return False
    left, right = (side.variables() for side in expression.args)
    return len(left) == len(right) == 1 and left[0].id != right[0].id


def roles_of(product: cp.Expression) -> Roles | None:
    """Return the roles in W @ H, Wᵀ @ H, Hᵀ @ Wᵀ and their multiples; nothing for other products.

    Examples
    --------
    >>> import cvxpy as cp
    >>> W, H = cp.Variable((5, 2), name="W"), cp.Variable((2, 3), name="H")
    >>> roles = roles_of(H.T @ (2 * W.T))
    >>> roles.W.variable.name(), roles.scale, roles.flipped
    ('W', 2.0, True)
    """
    left, right = (_factor_of(side) for side in product.args)
    if left is None or right is None:
        return None
    scale = left[1] * right[1]
    if left[0].flipped and right[0].flipped:
        return Roles(Factor(right[0].variable), Factor(left[0].variable), scale, flipped=True)
    return Roles(left[0], right[0], scale)


def probed_roles(product: cp.Expression) -> Roles:
    """Return the roles in a product of any expressions of the factors, such as (P W) @ square(H)."""
    sides = []
    for axis, side in zip((1, 0), product.args, strict=True):
        variable = side.variables()[0]
        sides.append(Factor(variable, _is_flipped(side, variable, axis)))
    W, H = sides
    if W.shape[1] != H.shape[0]:
        raise ModelError(
            f"the factors in {product} must share the rank, got shapes {W.shape} and {H.shape}; "
            "multiply W (features × rank) with H (rank × samples)"
        )
    return Roles(W, H)


def _factor_of(side: cp.Expression) -> tuple[Factor, float] | None:
    if isinstance(side, cp.Variable):
        return Factor(side), 1.0
    scaled = scaled_by(side)
    factor, inner = scaled if scaled is not None else (1.0, None)
    if isinstance(side, transpose):
        inner = side.args[0]
    found = None if inner is None else _factor_of(inner)
    if found is None:
        return None
    turned = replace(found[0], flipped=found[0].flipped != isinstance(side, transpose))
    return turned, factor * found[1]


def _is_flipped(side: cp.Expression, variable: cp.Variable, axis: int) -> bool:
    """Whether components run along the variable's other axis than they do in the product.

    One entry is changed: it moves one component only, the one of its own index, unless the
    expression mixes components; then the shapes decide.
    """
    shape = variable.shape
    rank = side.shape[axis]
    place = (0, min(1, shape[1] - 1))
    if shape[0] == rank and shape[1] == rank and place[1]:
        base = np.random.default_rng(0).random(shape)
        moved = base.copy()
        moved[place] += 0.5
        change = _at(side, variable, moved) - _at(side, variable, base)
        touched = np.flatnonzero(np.abs(change).any(axis=1 - axis))
        return bool(touched.tolist() == [place[1 - axis]])
    return bool(shape[axis] != rank and shape[1 - axis] == rank)


def _at(side: cp.Expression, variable: cp.Variable, X: np.ndarray) -> np.ndarray:
    return np.asarray(side.tree_copy({id(variable): cp.Constant(X)}).value)
