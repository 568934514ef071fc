"""Codes of new samples: the H-block with W fixed, under the terms on single samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.errors import IncompatibleError
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.blocks import Block, Subproblem, fitted_block
from conicnmf.model.losses import Frobenius
from conicnmf.model.terms import Loss, Term
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.solve.methods import (
    ANLS,
    BlockSolver,
    Context,
    CyclicNewton,
    Multiplicative,
    ProjectedGradient,
    TangentPlane,
)
from conicnmf.solve.methods.extrapolated import Extrapolated
from conicnmf.types import Array, Data

_CHUNK = 1000
"""So many samples make one cone program."""
_ROUNDS, _RTOL = 500, 1e-9
_SPAN = 4
"""Samples that are coded together differ by at most this power of two in size: steps end by what is
left of the whole, in which a small sample next to a large one does not count."""


def find_codes(
    V: Data,
    W: Array,
    terms: Sequence[Term],
    loss: Loss | None = None,
    observed: Any = None,
    rounds: int = _ROUNDS,
) -> Array:
    """Return H of lowest loss and penalties for these samples with W fixed.

    Non-negative and free codes come from exact least squares, others from cone programs or
    projected gradients.

    Parameters
    ----------
    V : array or sparse matrix
        The samples as columns.
    W : array
    terms : list of Term
        The terms on H, each of one sample.
    loss : Loss, optional
        Squared Frobenius by default.
    observed : array of bool, optional
        Which entries of V count.
    rounds : int
        The most steps where codes are no exact least squares.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> find_codes(np.array([[2.0], [-1.0]]), np.eye(2), [cn.NonNegative(), cn.L1(1.0)]).ravel()
    array([1.5, 0. ])
    """
    loss = loss or Frobenius()
    loss.check((V.shape[0], V.shape[1]))
    if observed is None:
        loss.check_data(V, "X")
    H = np.empty((W.shape[1], V.shape[1]), dtype=np.result_type(V, W))
    if _is_least_squares(fitted_block("H", V, W, loss, terms)[0], loss):
        for columns in _alike(V.shape[1], observed):
            rows = slice(None) if observed is None else observed[:, columns[0]]
            _, held = fitted_block("H", V[:, columns][rows], W[rows], loss, terms)
            H[:, columns] = _least_squares(held)
        return H
    # A loss that holds arrays of the shape of the data differs from its transpose, and cannot be cut.
    whole = [np.arange(V.shape[1])]
    for columns in _chunks(V) if loss.transposed() is loss else whole:
        if observed is not None and not observed[:, columns].any():
            # Nothing is known of these samples: the code of zero, or what is nearest to it.
            H[:, columns] = find_codes(V[:, columns], W, terms)
            continue
        own = loss if observed is None else loss.masked(observed[:, columns])
        held = fitted_block("H", V[:, columns], W, own, terms)[1]
        H[:, columns] = _descent(held, V[:, columns], W, rounds)
    return H


def _alike(count: int, observed: Any) -> list[NDArray[np.intp]]:
    """Return the samples in groups of which the same entries are observed."""
    if observed is None:
        return [np.arange(count)]
    packed = np.packbits(observed, axis=0)
    which = np.unique(packed, axis=1, return_inverse=True)[1].ravel()
    order = np.argsort(which, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def _chunks(V: Data) -> list[NDArray[np.intp]]:
    """Return the samples in groups of about the same size, none too large for one program."""
    powers = np.frexp(_sizes(V))[1] // _SPAN
    groups = [np.flatnonzero(powers == own) for own in np.unique(powers)]
    return [part for own in groups for part in np.split(own, range(_CHUNK, len(own), _CHUNK))]


def _sizes(V: Data) -> Array:
    """Return the largest magnitude of each sample."""
    largest = abs(V).max(axis=0)
    return np.asarray(largest.toarray().ravel() if sp.issparse(V) else largest)


def _is_least_squares(block: Block, loss: Loss) -> bool:
    """Whether the codes are those of non-negative or free least squares."""
    if "quadratic" not in loss.abilities or block.capped:
        return False
    if not all("bounds" in c.abilities for c in block.constraints):
        return False
    if block.shaped:
        return False
    lower, upper = block.bounds
    free = bool((lower == -np.inf).all())
    return bool((upper == np.inf).all()) and (free or bool((lower == 0).all()))


def _least_squares(held: Subproblem) -> Array:
    """Solve through the normal equations, or for codes of any sign by singular values."""
    block = held.block
    if block.nonneg:
        quadratic = held.quadratic()
        return nnls_gram(quadratic.G, quadratic.C)
    reduced = held.reduced()
    assert reduced is not None
    ridge = np.sqrt(block.orthant[1] / 2) * np.eye(block.shape[0], dtype=reduced.R.dtype)
    inverse = np.linalg.pinv(np.vstack([reduced.R, ridge]))[:, : len(reduced.R)]
    return np.asarray(inverse @ reduced.D)


def _descent(held: Subproblem, V: Data, W: Array, rounds: int = _ROUNDS) -> Array:
    """Update the block until its objective no longer falls."""
    block = held.block
    solver = coding_of(block)
    B = nnls_gram(W.T @ W, np.asarray((V.T @ W).T))
    # Norms and sparseness are undefined at zero.
    B[:, ~B.any(axis=0)] = (_sizes(V) / (np.abs(W).max() or 1.0))[~B.any(axis=0)]
    B[:, ~B.any(axis=0)] = 1.0
    if block.nonneg:
        B = np.maximum(B, B.mean(axis=0) / 1000)  # a multiplicative step cannot leave zero
    if block.projection is not None:
        B = block.projection(B)
    seen = solver.look(block, Context())
    value = held.objective(B) if block.violation(B) <= FEASIBLE else np.inf
    for _ in range(rounds):
        update = solver.lower(held, B, seen)
        seen = update.memo
        before, value = value, held.objective(update.B)
        if update.status is not None or not value < before:
            break
        B = update.B
        if before - value <= _RTOL * abs(value):
            break
    return B


def coding_of(block: Block) -> Any:
    """Return the solver that codes single samples where these are no plain least squares."""
    if not ANLS().unmet(block):  # each sample by itself and exactly, such as shares
        return ANLS()
    # Weighted squares are minimized at once by a cone program; majorizers would only come near.
    exact = "reduced" in block.abilities and "quadratic" not in block.abilities
    solvers: tuple[BlockSolver[Any] | Extrapolated, ...] = (
        CyclicNewton(),
        # Planes move until all samples have settled, not most of what is left of the whole.
        TangentPlane(rounds=_ROUNDS, rtol=_RTOL, engine="conic" if exact else "auto"),
        ProjectedGradient(),
        Multiplicative(),
    )
    reasons = {solver.name: solver.unmet(solver.facing(block)) for solver in solvers}
    for solver in solvers:
        if not reasons[solver.name]:
            return solver
    listed = "\n".join(f"  - {name}: {why}" for name, all_ in reasons.items() for why in all_)
    raise IncompatibleError(f"new samples cannot be coded under the terms on H:\n{listed}")
