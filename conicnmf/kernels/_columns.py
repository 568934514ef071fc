"""What the column kernels share: one scaled least-squares block.

The block min ‖Y − A B‖² enters as G = AᵀA and C = AᵀY. Atoms are scaled to unit norm and every
column of C to unit size, so that tolerances mean the same at 1e-150 and at 1e150; the columns
become contiguous rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.errors import InputError
from conicnmf.types import Array


class Columns(NamedTuple):
    """A scaled block: unit atoms, columns of C as contiguous rows of size one.

    G and the norms of the atoms have a first axis: of length one, or one entry for each column.
    """

    G: NDArray[np.float64]
    C: NDArray[np.float64]
    norms: NDArray[np.float64]
    sizes: NDArray[np.float64]
    dtype: np.dtype[Any]

    @property
    def noise(self) -> float:
        """How far rounding of the data moves the spectrum of G: less than that is nothing."""
        return 4 * float(np.finfo(self.dtype).eps) * (2 + math.sqrt(self.norms.shape[1]))

    def part(self, columns: NDArray[np.intp]) -> Columns:
        """Return the block of some of the columns."""
        shared = len(self.G) == 1
        return Columns(
            self.G if shared else self.G[columns],
            self.C[columns],
            self.norms if shared else self.norms[columns],
            self.sizes[columns],
            self.dtype,
        )

    def restore(self, X: NDArray[np.float64]) -> Array:
        """Return the coefficients (one row per sample) in the caller's units and layout."""
        B = np.multiply(X.T, self.sizes, order="C")
        B /= _nonzero(self.norms).T
        return B.astype(self.dtype, copy=False)

    def spread(
        self, X: NDArray[np.float64], places: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> Array:
        """Return the coefficients in the caller's units, of which a row of X has the first few."""
        n, r = self.C.shape
        column, i = np.nonzero(np.arange(X.shape[1]) < counts[:, None])
        atom = places[column, i]
        B = np.zeros((r, n), self.dtype)
        norms = self.norms[column if len(self.norms) > 1 else 0, atom]
        B[atom, column] = X[column, i] * self.sizes[column] / norms
        return B


def as_block(G: ArrayLike, C: ArrayLike) -> tuple[Array, Array]:
    """Return G and C (r × n) as float arrays of one dtype, or say what is wrong.

    G is r × r, or n × r × r where each column has its own.

    Examples
    --------
    >>> G, C = as_block([[2, 1], [1, 2]], [[1], [0]])
    >>> G.dtype, C.shape
    (dtype('float64'), (2, 1))
    """
    G, C = np.asarray(G), np.asarray(C)
    dtype = np.float32 if G.dtype == C.dtype == np.float32 else np.float64
    if G.ndim not in (2, 3) or G.shape[-2] != G.shape[-1]:
        raise InputError(f"G = AᵀA must be a square matrix, got shape {G.shape}; pass A.T @ A")
    if C.ndim != 2 or C.shape[0] != G.shape[-1]:
        raise InputError(
            f"C = AᵀY must have one row per atom ({G.shape[-1]}), got shape {C.shape}; "
            "pass A.T @ Y with Y of two dimensions"
        )
    if G.ndim == 3 and len(G) not in (1, C.shape[1]):
        raise InputError(
            f"G must be one matrix or one for each of the {C.shape[1]} columns, got {len(G)}"
        )
    return G.astype(dtype, copy=False), C.astype(dtype, copy=False)


def scale_columns(G: ArrayLike, C: ArrayLike) -> Columns:
    """Scale a block; an atom whose norm vanishes becomes a zero atom with no pull.

    Examples
    --------
    >>> block = scale_columns([[4.0, 0.0], [0.0, 0.0]], [[2.0], [0.0]])
    >>> block.G[0, 0, 0], block.C, block.norms
    (np.float64(1.0), array([[1., 0.]]), array([[2., 0.]]))
    """
    G, C = as_block(G, C)
    for name, array in (("G", G), ("C", C)):
        if not np.isfinite(array).all():
            raise InputError(f"{name} must be finite, got nan or inf; clean or rescale the data")
    G = G if G.ndim == 3 else G[None]
    diagonal = np.diagonal(G, axis1=1, axis2=2).astype(np.float64)
    # Below the smallest normal number the digits of a square are gone: the atom counts as zero.
    alive = diagonal >= np.finfo(G.dtype).tiny
    norms = np.where(alive, np.sqrt(np.abs(diagonal)), 0.0)
    inverse = alive / _nonzero(norms)
    rows = np.multiply(C.T, inverse, order="C")
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    rows /= _nonzero(sizes)[:, None]
    return Columns(G * inverse[:, None] * inverse[:, :, None], rows, norms, sizes, G.dtype)


def per_column(name: str, values: ArrayLike, block: Columns) -> NDArray[np.float64]:
    """Return squared norms, one per column, in the units of the scaled block.

    Examples
    --------
    >>> per_column("yy", [8.0], scale_columns([[1.0]], [[2.0]]))
    array([2.])
    """
    squares = np.asarray(values, dtype=np.float64)
    if squares.shape != block.sizes.shape or not (squares >= 0).all():
        raise InputError(
            f"{name} must hold one squared norm >= 0 per column ({block.sizes.size}), "
            f"got shape {squares.shape}; pass (Y * Y).sum(axis=0)"
        )
    sizes = _nonzero(block.sizes)
    return squares / sizes / sizes


def _nonzero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with every zero replaced by one, as divisors."""
    return np.where(values == 0, 1.0, values)
