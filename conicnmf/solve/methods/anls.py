"""Alternating least squares, each factor solved exactly, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.kernels.tied_ls import tied_ls
from conicnmf.model.blocks import Subproblem
from conicnmf.solve.methods.extrapolated import Extrapolated
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    exact_columns,
    orthant_penalties,
    uncapped,
    whole_least_squares,
)
from conicnmf.types import Array


@dataclass(frozen=True)
class ANLS(Extrapolated):
    """Solve each block exactly by an active-set method on the Gram matrices of its columns.

    Columns of a block may be unconstrained, non-negative, or non-negative with a given sum; the
    sum may also be that of the whole factor. With weights and masks, each column has its own Gram
    matrix. Columns that `Smooth` links to their neighbors are solved together by Newton steps
    within bounds. Active sets are warm-started from the last iteration. The objective never rises.

    Parameters
    ----------
    extrapolate : bool
        Extrapolate each factor before the other one is updated, see `HALS`.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.ANLS())
    >>> round(result.objective, 12)
    0.0
    """

    extrapolate: bool = True

    needs: ClassVar = (
        uncapped,
        LossWith(("quadratic", "grams"), "which least-squares steps need"),
        PenaltiesWith(("orthant", "ties"), "which least-squares steps need"),
        orthant_penalties,
        exact_columns,
    )

    def minimize(self, held: Subproblem, B: Array) -> tuple[Array, float | None]:
        """Minimize over the whole block, some columns after the other where these have their own.

        Of squares that stand for another loss and lie above it no one asks for the value.
        """
        if any("ties" in penalty.abilities for penalty in held.block.shaped):
            return _tied(held, B)
        new, value, valued = np.empty_like(B), 0.0, held.block.kind != "weighted"
        constraint = next(iter(held.block.binding), None)
        whole = whole_least_squares(held.block)
        for columns, quadratic in held.columnwise(valued):
            G, C = quadratic.G, quadratic.C
            if whole is not None:
                new[:, columns] = whole.least_squares_nonneg(G, C, B)
            elif constraint is None:
                new[:, columns] = _unconstrained(G, C)
            else:
                new[:, columns] = constraint.least_squares(G, C, B[:, columns])
            value += quadratic.value(new[:, columns]) if valued else 0.0
        return new, value if valued else None


def _tied(held: Subproblem, B: Array) -> tuple[Array, float]:
    """Minimize over all columns together, each tied to its neighbors."""
    block = held.block
    shared = "quadratic" in block.abilities
    quadratic = held.quadratic() if shared else held.stacked()
    # Every penalty with more than a slope and a curvature has ties here, or none would fit.
    each = [penalty.ties(B.shape[1]) for penalty in block.shaped]
    ties = np.zeros((max(map(len, each)), B.shape[1]))
    for own in each:
        ties[: len(own)] += own
    new = tied_ls(quadratic.G, quadratic.C, ties, B, *block.bounds).astype(B.dtype, copy=False)
    return new, quadratic.value(new) + sum(p.value(new) for p in block.shaped)


def _unconstrained(G: Array, C: Array) -> Array:
    """Return the smallest solution of G X = C, with one G for all columns or one for each."""
    # NumPy's own limit is that of double precision, which takes rounding in single for curvature.
    rounding = G.shape[-1] * float(np.finfo(G.dtype).eps)
    inverse = np.linalg.pinv(G, rcond=rounding, hermitian=True)
    if G.ndim == 2:
        return np.asarray(inverse @ C)
    return np.ascontiguousarray((inverse @ C.T[:, :, None])[:, :, 0].T)
