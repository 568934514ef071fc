"""Starts whose components are made of columns of the data; the plainest draws them at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.kernels.nnls import nnls_gram
from conicnmf.settings import Count
from conicnmf.solve.starts.from_data import FromData
from conicnmf.solve.starts.offsets import column_squares
from conicnmf.solve.starts.simple import STARTS
from conicnmf.solve.starts.views import Stack
from conicnmf.types import Array

_ROUNDING = 1e-12
"""Coefficients below this part of the largest one are zeros that rounding has missed."""


@dataclass(frozen=True)
class FromColumns(FromData):
    """A subclass finds columns with `basis`; the coefficients are those of least squares.

    The data are known by their products, so sparse data, stacks of views and data without their
    offsets are never formed. Columns are exact up to their scale, which H takes over. Where a rule
    finds fewer columns than there are components, random columns are the others.
    """

    def basis(self, V: Any, rank: int, rng: np.random.Generator) -> Array:
        """Return at most `rank` columns."""
        raise TypeError(f"{type(self).__name__} must define basis(V, rank, rng)")

    def ends(self, stack: Stack, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the basis, and the coefficients of the samples in it."""
        V = stack.operator
        W = np.asarray(self.basis(V, stack.rank, rng), dtype=float)
        if W.shape[1] < stack.rank:
            more = random_columns(V, stack.rank - W.shape[1], 1, rng)
            W = np.hstack([W, more])
        if stack.nonneg_left:
            W = np.maximum(W, 0.0)
        G, C = W.T @ W, np.asarray(V.T @ W, dtype=float).T
        if stack.nonneg_shared:
            H = nnls_gram(G, C)
            return W, np.where(_ROUNDING * H.max(initial=0.0) < H, H, 0.0)
        return W, np.linalg.pinv(G, hermitian=True) @ C


@dataclass(frozen=True)
class DataColumns(FromColumns):
    """Each component is the mean of a few random columns of V.

    Cheap, and similar to the data: as sparse, as smooth, in the same units. Views that share
    a factor, offsets and middle factors are treated as by `NNDSVD`.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of the factor, or small random numbers. Methods that
        multiply cannot leave zero, so "random" is the default.
    average : int
        The number of columns in each mean; with 1, components are samples.

    References
    ----------
    Langville, Meyer, Albright, Cox and Duling, Algorithms, initializations, and convergence for the
    nonnegative matrix factorization, 2014.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> W = cn.factorize(V, 2).solve(init=cn.DataColumns(average=1), stop=0).W
    >>> bool((W[:, :1] == V).all(axis=0).any())
    True
    """

    average: Count = 5

    def basis(self, V: Any, rank: int, rng: np.random.Generator) -> Array:
        """Return means of random columns."""
        return random_columns(V, rank, self.average, rng)


STARTS.add("DataColumns", DataColumns)


def take_columns(V: Any, chosen: NDArray[np.intp]) -> Array:
    """Return columns of data that are known by their products."""
    picker = np.zeros((V.shape[1], len(chosen)))
    picker[chosen, np.arange(len(chosen))] = 1
    return np.asarray(V @ picker, dtype=float)


def random_columns(V: Any, count: int, average: int, rng: np.random.Generator) -> Array:
    """Return means of random columns, none of which is zero where there are others."""
    filled = np.flatnonzero(column_squares(V))
    pool = filled if filled.size else np.arange(V.shape[1])
    average = min(average, pool.size)
    # Columns are dealt out, and dealt out again when all of them are taken.
    deals = [rng.permutation(pool) for _ in range(1 + count * average // pool.size)]
    chosen = np.concatenate(deals)[: count * average]
    picker = np.zeros((V.shape[1], count))
    np.add.at(picker, (chosen, np.arange(len(chosen)) // average), 1 / average)
    return np.asarray(V @ picker, dtype=float)
