"""Greedy l0-sparse coding from the empty support, with non-negative coefficients throughout.

After every change of the support the coefficients are the exact non-negative least-squares
solution on it, reached from the factor of the step before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.errors import InputError
from conicnmf.kernels._columns import per_column, scale_columns
from conicnmf.kernels._forward_backward import two_way_range
from conicnmf.kernels._greedy import pursue_range
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array


def nn_omp(
    G: ArrayLike, C: ArrayLike, yy: ArrayLike, max_atoms: int, rel_error: float = 0.0
) -> Array:
    """Return non-negative codes by orthogonal matching pursuit.

    The atom with the largest positive cosine with the residual joins the selected ones, and the
    coefficients of all of them are solved again, until `max_atoms` are selected, the error is met
    or no atom points the residual's way.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        AᵀA, or one such matrix for each column; the atoms need not have unit norm.
    C : array of shape (r, n)
        AᵀY.
    yy : array of shape (n,)
        ‖y‖² of every column of Y.
    max_atoms : int
        The most atoms to select for a column.
    rel_error : float
        Stop once ‖y − A b‖² ≤ rel_error ‖y‖².

    Examples
    --------
    >>> C = np.array([[3.0], [2.0], [0.1]])
    >>> nn_omp(np.eye(3), C, (C * C).sum(axis=0), max_atoms=2).ravel()
    array([3., 2., 0.])
    """
    block = scale_columns(G, C)
    squares = per_column("yy", yy, block)
    most = _atoms(max_atoms, block.C.shape[1])
    if not rel_error >= 0:
        raise InputError(f"rel_error is a share of ‖y‖² and must be >= 0, got {rel_error}")
    n, r = block.C.shape
    X, chosen, counts = np.zeros((n, most)), np.zeros((n, most), np.int64), np.empty(n, np.int64)

    def run(first: int, last: int) -> None:
        found = X, chosen, counts
        pursue_range(block.G, block.C, squares, *found, float(rel_error), first, last, block.noise)

    over_columns(run, n, work=0.3 * n * r * most)
    return block.spread(X, chosen, counts)


def forward_backward(
    G: ArrayLike, C: ArrayLike, yy: ArrayLike, lam: float, max_atoms: int
) -> Array:
    """Return non-negative codes by a pursuit that adds and drops atoms under one l0 cost.

    The cost of a column is ‖y − A b‖² + λ²·(number of atoms with b > 0), b the non-negative
    least-squares solution on its support. From the empty support, the atom to add or to drop
    that promises to lower the cost most is taken; the change stands only if the cost really
    falls. The cost falls with every change, so no support is seen twice and the search ends, at
    a support from which no single change that promised a gain gives one.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        AᵀA, or one such matrix for each column; the atoms need not have unit norm.
    C : array of shape (r, n)
        AᵀY.
    yy : array of shape (n,)
        ‖y‖² of every column of Y.
    lam : float
        λ: an atom stays out if it lowers the squared residual by less than λ².
    max_atoms : int
        The most atoms a column may use.

    Examples
    --------
    >>> C = np.array([[3.0], [2.0], [0.1]])
    >>> forward_backward(np.eye(3), C, (C * C).sum(axis=0), lam=0.2, max_atoms=3).ravel()
    array([3., 2., 0.])
    """
    block = scale_columns(G, C)
    squares = per_column("yy", yy, block)
    most = _atoms(max_atoms, block.C.shape[1])
    if not lam >= 0:
        raise InputError(f"lam is the cost of an atom and must be >= 0, got {lam}")
    prices = (lam / np.where(block.sizes > 0, block.sizes, 1.0)) ** 2
    X = np.zeros_like(block.C)

    def run(first: int, last: int) -> None:
        two_way_range(block.G, block.C, squares, X, prices, most, first, last, block.noise)

    over_columns(run, X.shape[0], work=X.size * most)
    return block.restore(X)


def _atoms(max_atoms: int, r: int) -> int:
    """Return the largest size of a support, at most the number of atoms there are."""
    if max_atoms < 0:
        raise InputError(f"max_atoms must be >= 0, got {max_atoms}")
    return min(int(max_atoms), r)
