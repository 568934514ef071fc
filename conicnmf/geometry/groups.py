"""Groups of entries that become zero together: least ½‖x − a‖² + weight Σ‖x_g‖ over groups g."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.geometry.rows import as_rows, at_size_one, per_row
from conicnmf.types import Array


def group_norms(X: Array, labels: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the Euclidean norm of each group of entries in each row.

    Examples
    --------
    >>> group_norms(np.array([[3.0, 4.0, 5.0]]), np.array([0, 0, 1]), 2)
    array([[5., 5.]])
    """
    scaled, inverse = at_size_one(X)
    places = np.arange(len(X))[:, None] * count + labels
    squares = np.bincount(places.ravel(), (scaled**2).ravel(), minlength=len(X) * count)
    return np.sqrt(squares.reshape(len(X), count)) / inverse[:, None]


def shrink_groups(X: ArrayLike, weight: ArrayLike, labels: ArrayLike | None = None) -> Array:
    """Make each group of each row shorter by `weight`, or zero if it is not longer than that.

    With x ≥ 0 in addition, set negative entries to 0 first: they would only make the groups longer.

    Parameters
    ----------
    X : array of shape (rows, n)
    weight : float or array of shape (rows,)
        At least 0.
    labels : array of shape (n,), optional
        The group of each entry as a number from 0; the whole row by default.

    Examples
    --------
    >>> shrink_groups([[3.0, 4.0, 1.0]], 1.5, [0, 0, 1])
    array([[2.1, 2.8, 0. ]])
    """
    rows = as_rows(X)
    own = np.zeros(rows.shape[1], np.intp) if labels is None else np.asarray(labels, np.intp)
    norms = group_norms(rows, own, int(own.max(initial=0)) + 1)
    excess = np.maximum(norms - per_row(weight, len(rows))[:, None], 0.0)
    shares = np.divide(excess, norms, out=np.zeros_like(norms), where=norms > 0)
    return np.asarray(rows * shares[:, own], dtype=rows.dtype)
