"""Give components that died something to do.

A component is dead when its part of one factor is zero: it adds nothing, and no update of the
other part can change that. Its zero part is kept, so the objective does not move, and the other
part is pointed at what the model explains worst, so that the next update can use it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.types import Array, Factors


def revive(problem: Problem, block: Block, factors: Factors) -> Factors:
    """Return the factors with new directions for the dead components of a block just updated."""
    A, B = problem.given(block, factors).A, problem.rows(block, factors)
    idle, dead = ~A.any(axis=0), ~B.any(axis=1)
    other = problem.beside(block)
    if not (idle | dead).any() or not _can_move(block):
        return factors
    # A component whose other part is alive gets zero there: possible where zero is allowed.
    usable = idle | (dead & other.zero_allowed)
    worst = _worst_explained(block, A, B, int(usable.sum()))
    assert block.projection is not None
    for place, j in enumerate(np.flatnonzero(usable)):
        found = place < len(worst) and worst[place].any()
        candidate = B.copy()
        candidate[j] = worst[place] if found else 1.0  # nothing is left to explain
        candidate[j] = block.projection(candidate, slice(j, j + 1))[0]
        if candidate[j].any():
            A, B = A.copy(), candidate
            A[:, j] = 0.0
    return problem.put(block, problem.put(other, factors, np.ascontiguousarray(A.T)), B)


def _can_move(block: Block) -> bool:
    """Whether a component may be set without a cost of its own, and kept in its constraints."""
    return block.by_component and block.projection is not None and not block.penalties


def _worst_explained(block: Block, A: Array, B: Array, count: int) -> Array:
    """Return the positive residuals of the rows of Y that the model misses most."""
    Y = block.Y
    squares = Y.multiply(Y).sum(axis=1) if sp.issparse(Y) else np.einsum("ij,ij->i", Y, Y)
    cross = np.einsum("ij,ij->i", np.asarray(Y @ B.T), A)
    fitted = np.einsum("ij,ij->i", A @ (B @ B.T), A)
    rows = np.argsort(-(np.ravel(squares) - 2 * cross + fitted), kind="stable")[:count]
    data = Y[rows].toarray() if sp.issparse(Y) else Y[rows]
    return np.asarray(np.maximum(data - A[rows] @ B, 0.0))
