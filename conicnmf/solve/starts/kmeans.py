"""k-means: each component is the mean of a group of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.settings import Count
from conicnmf.solve.starts.columns import FromColumns, take_columns
from conicnmf.solve.starts.offsets import column_squares
from conicnmf.solve.starts.simple import STARTS
from conicnmf.types import Array


@dataclass(frozen=True)
class KMeans(FromColumns):
    """The means of groups of similar samples, found by Lloyd's algorithm.

    The first means are samples far from each other (k-means++). A group that loses all its samples
    restarts at the sample farthest from its mean. Views that share a factor,
    offsets and middle factors are treated as by `NNDSVD`.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of the factor, or small random numbers. Methods that
        multiply cannot leave zero, so "random" is the default.
    rounds : int
        The most rounds; it stops earlier if no sample changes its group.

    References
    ----------
    Wild, Curry and Dougherty, Improving non-negative matrix factorizations through structured
    initialization, Pattern Recognition 2004. Arthur and Vassilvitskii, k-means++: the advantages of
    careful seeding, 2007.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.array([[0.1, 0.3, 0.0, 0.0], [0.0, 0.0, 0.5, 0.7]])
    >>> cn.factorize(V, 2).solve(init=cn.KMeans("zero"), stop=0).W.sum(axis=1).round(9)
    array([0.2, 0.6])
    """

    rounds: Count = 100

    def basis(self, V: Any, rank: int, rng: np.random.Generator) -> Array:
        """Return the means of the groups."""
        squares = column_squares(V)
        means = take_columns(V, _far_apart(V, squares, rank, rng))
        groups = np.full(len(squares), -1)
        for _ in range(self.rounds):
            gaps = _gaps(V, squares, means)
            found = gaps.argmin(axis=1)
            if (found == groups).all():
                break
            groups = _all_used(found, gaps, means.shape[1])
            members = np.equal.outer(groups, np.arange(means.shape[1])).astype(float)
            means = np.asarray(V @ (members / members.sum(axis=0)), dtype=float)
        return means


STARTS.add("KMeans", KMeans)


def _gaps(V: Any, squares: Array, means: Array) -> Array:
    """Return the squared distance of each sample from each mean."""
    cross = np.asarray(V.T @ means, dtype=float)
    gaps: Array = squares[:, None] - 2 * cross + np.einsum("ij,ij->j", means, means)
    # Where samples equal a mean, what is left is rounding.
    return np.where(gaps > 1e-12 * squares.max(initial=0.0), gaps, 0.0)


def _far_apart(V: Any, squares: Array, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return different samples, each drawn in proportion to its squared distance from those before."""
    chosen = [int(rng.integers(len(squares)))]
    gaps = _gaps(V, squares, take_columns(V, np.array(chosen)))[:, 0]
    gaps[chosen] = 0.0  # whatever rounding left there: no sample is drawn twice
    trials = 2 + int(np.log(count))
    while len(chosen) < count and gaps.any():
        tried = rng.choice(len(squares), size=trials, p=gaps / gaps.sum())
        left = np.minimum(gaps[:, None], _gaps(V, squares, take_columns(V, tried)))
        best = int(left.sum(axis=0).argmin())  # of a few, the one that leaves least
        chosen.append(int(tried[best]))
        gaps = left[:, best]
        gaps[chosen] = 0.0
    return np.array(chosen, dtype=np.intp)


def _all_used(groups: NDArray[np.intp], gaps: Array, count: int) -> NDArray[np.intp]:
    """Return the groups with a sample in each: an empty one takes the sample worst served."""
    groups = groups.copy()
    own = gaps[np.arange(len(groups)), groups]
    for empty in np.setdiff1d(np.arange(count), groups):
        shared = np.bincount(groups, minlength=count)[groups] > 1
        farthest = int(np.where(shared, own, -1.0).argmax())
        groups[farthest], own[farthest] = empty, 0.0
    return groups
