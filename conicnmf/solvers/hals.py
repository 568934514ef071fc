"""Hierarchical alternating least squares: one component after the other, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.compat import (
    LossWith,
    PenaltiesWith,
    by_component,
    joint_projection,
    orthant_penalties,
)
from conicnmf.errors import InputError
from conicnmf.solvers.base import Solver, Update
from conicnmf.terms import Quadratic


@dataclass(frozen=True)
class HALS(Solver):
    """Minimize over one component at a time by an exact projection; the objective never rises.

    The loss is a multiple of ‖b − target‖² in one component b, so its constrained minimum is the
    projection of the target on the component's constraints, whether convex or not.

    Parameters
    ----------
    sweeps : int
        How often the components are visited before the factor is switched.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> result = cn.factorize(V, 2).solve(cn.HALS())
    >>> result.status.name
    'CONVERGED'
    """

    sweeps: int = 3

    needs: ClassVar = (
        LossWith(("quadratic",), "which component-wise steps need"),
        PenaltiesWith("orthant", "which component-wise steps need"),
        orthant_penalties,
        by_component,
        joint_projection,
    )

    def __post_init__(self) -> None:
        if self.sweeps < 1:
            raise InputError(f"HALS needs sweeps >= 1, got {self.sweeps}; the default is 3")

    def update(self, block: Block, A: Array, B: Array, memo: Any) -> Update:
        """Visit every component `sweeps` times."""
        quadratic = block.quadratic(A)
        new = project_components(block, quadratic, B, self.sweeps)
        return Update(new, memo, quadratic.value(new))


def project_components(block: Block, quadratic: Quadratic, B: Array, sweeps: int) -> Array:
    """Return B after exact updates of one component after the other."""
    assert block.projection is not None
    G, C = quadratic.G, quadratic.C
    B = B.copy()
    for _ in range(sweeps):
        for j in np.flatnonzero(np.diag(G) > 0):
            last = B[j].copy()
            B[j] += (C[j] - G[j] @ B) / G[j, j]
            B[j] = block.projection(B, slice(j, j + 1))[0]
            if not B[j].any() and last.any():
                # Zero is no member of a band: the shorter component is, and f is not higher there.
                B[j] = last / 10
    return B
