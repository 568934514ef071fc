"""Give components that died something to do.

A component is dead when its part of one factor is zero: it adds nothing, and no update of the
other part can change that. Its zero part is kept, so the objective does not move, and the other
part is pointed at what the model explains worst, so that the next update can use it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.types import Array, Data, Factors


def revive(problem: Problem, block: Block, factors: Factors) -> Factors:
    """Return the factors with new directions for the dead components of a block just updated."""
    other = problem.partner(block)
    if other is None or not _can_move(block):
        return factors
    A, B = other.rows(factors).T, block.rows(factors)
    if A[len(A) // 2].all() and B[:, B.shape[1] // 2].all():
        return factors  # one feature and one sample that use every component show that none is dead
    idle, dead = ~A.any(axis=0), ~B.any(axis=1)
    if not (idle | dead).any():
        return factors
    # A component whose other part is alive gets zero there: possible where zero is allowed, and
    # where that changes no other component's feasibility.
    usable = idle | (dead & (other.zero_allowed and other.by_component))
    worst = worst_explained(data_of(block), A, B, int(usable.sum()))
    assert block.projection is not None
    for place, j in enumerate(np.flatnonzero(usable)):
        found = place < len(worst) and worst[place].any()
        candidate = B.copy()
        candidate[j] = worst[place] if found else 1.0  # nothing is left to explain
        candidate[j] = block.projection(candidate, slice(j, j + 1))[0]
        if candidate[j].any():
            A, B = A.copy(), candidate
            A[:, j] = 0.0
    return block.put(other.put(factors, np.ascontiguousarray(A.T)), B)


def _can_move(block: Block) -> bool:
    """Whether a component may be set without a cost of its own, and kept in its constraints."""
    return block.by_component and block.projection is not None and not block.penalties


def data_of(block: Block) -> Data:
    """Return the data with a sample of the block in each column."""
    (fit,) = block.addends
    assert isinstance(fit, Fit)
    return fit.V.T if fit.place(block.name)[2].flipped != block.flipped else fit.V


def worst_explained(Y: Data, A: Array, B: Array, count: int, signed: bool = False) -> Array:
    """Return the residuals of the rows of Y that the model misses most, their positive parts."""
    squares = Y.multiply(Y).sum(axis=1) if sp.issparse(Y) else np.einsum("ij,ij->i", Y, Y)
    cross = np.einsum("ij,ij->i", np.asarray(Y @ B.T), A)
    fitted = np.einsum("ij,ij->i", A @ (B @ B.T), A)
    rows = np.argsort(-(np.ravel(squares) - 2 * cross + fitted), kind="stable")[:count]
    data = Y[rows].toarray() if sp.issparse(Y) else Y[rows]
    residuals = np.asarray(data - A[rows] @ B)
    return residuals if signed else np.maximum(residuals, 0.0)
