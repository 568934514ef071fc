"""The model's value at chosen entries, without forming the product."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.kernels.stored import stored_products
from conicnmf.types import Array
from conicnmf.validate import as_array


def product_entries(L: Array, R: Array, rows: Any, columns: Any) -> Array:
    """Return (L R)[rows, columns] for places that broadcast as NumPy's indices do.

    Examples
    --------
    >>> L, R = np.array([[1.0], [2.0]]), np.array([[1.0, 10.0, 100.0]])
    >>> product_entries(L, R, [0, 1], [2, 1])
    array([100.,  20.])
    >>> product_entries(L, R, [[0], [1]], [0, 2])
    array([[  1., 100.],
           [  2., 200.]])
    """
    i, j = as_places(rows, "rows", L.shape[0]), as_places(columns, "columns", R.shape[1])
    try:
        i, j = np.broadcast_arrays(i, j)
    except ValueError as error:
        raise InputError(
            f"rows and columns must go together, got shapes {i.shape} and {j.shape}; give one of "
            "each for every entry, or use np.ix_(rows, columns)"
        ) from error
    return stored_products(i.ravel(), j.ravel(), L, R.T).reshape(i.shape)


def as_places(given: Any, name: str, length: int) -> NDArray[np.intp]:
    """Return places from zero on; negative ones count from the end.

    Examples
    --------
    >>> as_places([0, -1], "rows", 3)
    array([0, 2])
    """
    places: NDArray[np.intp] = as_array(given, name)
    if places.size == 0:
        return places.astype(np.intp)
    if places.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be whole numbers, got {places.dtype}; np.nonzero(mask) has those of a mask"
        )
    low, high = int(places.min()), int(places.max())
    if low < -length or high >= length:
        raise InputError(
            f"{name} must be from {-length} to {length - 1}, got {low if low < -length else high}; "
            "positions count from zero"
        )
    return np.where(places < 0, places + length, places).astype(np.intp)
