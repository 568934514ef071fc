"""Units for what CVXPY adds to a program, so that its numbers do not depend on those of a statement.

CVXPY adds variables and rows in the numbers of the user's expression: for max(10⁶ b) a bound on 10⁶ b.
A solver is asked for absolute accuracy, so it would find other digits than for max(b). Here rows are
divided by what the factor's own entries have in them, added variables by what they have in such rows,
and so on to the last. Powers of two change no digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.types import Array, Mask


def find_balance(A: Any, dims: Any, own: slice) -> tuple[Array, Array]:
    """Return powers of two for the rows and the columns of A; those of the `own` columns are one.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from types import SimpleNamespace
    >>> above = sp.coo_array([[2.0**20, -1.0]])  # 2²⁰ b ≤ t
    >>> dims = SimpleNamespace(zero=0, nonneg=1, soc=[], psd=[], exp=0, p3d=[], pnd=[])
    >>> rows, columns = find_balance(above, dims, slice(0, 1))
    >>> (rows[:, None] * above.toarray() * columns)
    array([[ 1., -1.]])

    Rows that say 0 ≤ 0, as of entries that nothing fixes, stay as they are.

    >>> find_balance(sp.coo_array((2, 1)), SimpleNamespace(**{**vars(dims), "nonneg": 2}), slice(1))[0]
    array([1., 1.])
    """
    every = _cones_of_rows(dims)
    cone, sizes = every[A.row], np.abs(A.data)
    by_cone = np.ones(int(every.max(initial=0)) + 1)  # rows without entries have cones as well
    columns = np.ones(A.shape[1])
    scaled_cones, scaled = np.zeros(by_cone.size, dtype=bool), np.zeros(columns.size, dtype=bool)
    scaled[own] = True
    while True:
        more = _spread(cone, A.col, sizes, by_cone, columns, scaled_cones, scaled)
        if not _spread(A.col, cone, sizes, columns, by_cone, scaled, scaled_cones) and not more:
            return by_cone[every], columns


def _spread(
    to: Array, via: Array, sizes: Array, target: Array, known: Array, reached: Mask, scaled: Mask
) -> bool:
    """Scale, in place, what is reached for the first time by entries that have a scale."""
    seen = scaled[via] & ~reached[to] & (sizes > 0)
    largest = np.zeros(target.size)
    np.maximum.at(largest, to[seen], sizes[seen] * known[via[seen]])
    new = largest > 0
    target[new] = np.ldexp(1.0, 1 - np.frexp(largest[new])[1])
    reached |= new
    return bool(new.any())


def _cones_of_rows(dims: Any) -> Array:
    """Return the number of each row's cone; rows of one cone have one scale."""
    lengths = [1] * (dims.zero + dims.nonneg) + list(dims.soc)
    lengths += [n * (n + 1) // 2 for n in dims.psd] + [3] * (dims.exp + len(dims.p3d))
    lengths += [len(powers) + 1 for powers in dims.pnd]
    return np.repeat(np.arange(len(lengths)), lengths)
