"""Non-negative double SVD: the dominant halves of singular vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from conicnmf.errors import InputError
from conicnmf.solve.starts.from_data import FromData
from conicnmf.solve.starts.offsets import Centered
from conicnmf.solve.starts.simple import STARTS
from conicnmf.solve.starts.singular import leading_singular
from conicnmf.solve.starts.views import Stack
from conicnmf.types import Array, stored


@dataclass(frozen=True)
class NNDSVD(FromData):
    """Non-negative parts of the leading singular vectors.

    Views that share a factor are stacked, each by the weight of its loss; offsets start at the
    smallest entries (at the means if factors may be negative) and are subtracted first; a middle
    factor is fitted to the two others by least squares. Missing entries are replaced by the mean
    of their feature. Sparse data stay sparse, and stacks are not formed.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of V, or small random numbers. Methods that multiply
        cannot leave zero, so "mean" is the default.

    References
    ----------
    Boutsidis and Gallopoulos, SVD based initialization: a head start for non-negative matrix
    factorization, Pattern Recognition 2008.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> cn.factorize(V, 2).solve(cn.HALS(), init=NNDSVD()).status.name
    'CONVERGED'
    """

    fill: Literal["zero", "mean", "random"] = "mean"

    def ends(self, stack: Stack, rng: np.random.Generator) -> tuple[Array, Array]:
        """Split each pair of singular vectors into its dominant signed half."""
        for view in stack.views:
            if not isinstance(view.rest, Centered) and stored(view.rest).min(initial=0.0) < 0:
                raise InputError(
                    f"NNDSVD needs {view.name} >= 0, got negative entries; use Random() instead"
                )
        return halves(*leading_singular(stack.operator, stack.rank, rng), stack.rank)

    def level(self, X: Array, mean: float) -> float:
        """Return the mean of the data."""
        return mean


STARTS.add("NNDSVD", NNDSVD)


def halves(U: Array, s: Array, Vt: Array, rank: int) -> tuple[Array, Array]:
    """Return non-negative W and H from singular vectors, zero beyond the rank the data can give."""
    W, H = np.zeros((len(U), rank)), np.zeros((rank, Vt.shape[1]))
    for j, (u, v) in enumerate(zip(U.T, Vt, strict=True)):
        pairs = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        sizes = [float(np.linalg.norm(left) * np.linalg.norm(right)) for left, right in pairs]
        # Halves that are equal but for rounding must not be chosen by it.
        left, right = pairs[int(sizes[1] > (1 + 1e-8) * sizes[0])]
        norms = float(np.linalg.norm(left)), float(np.linalg.norm(right))
        if 0 in norms:
            continue
        size = np.sqrt(s[j] * norms[0] * norms[1])
        W[:, j], H[j] = size * left / norms[0], size * right / norms[1]
    return W, H
