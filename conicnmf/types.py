"""Names for the arrays that are passed around in the package."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Factors: TypeAlias = dict[str, Array]
"""The variables of a problem by name, each as the user knows it."""
Data: TypeAlias = Any
"""An `Array` or a `scipy.sparse.csr_array`; SciPy has no types of its own."""


def power_of(Y: Data) -> int | None:
    """Return the power of two at or below the largest magnitude, nothing where all are zero.

    Examples
    --------
    >>> power_of(np.array([3.0, -9.0]))
    3
    """
    values = stored(Y)
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return math.frexp(largest)[1] - 1 if largest else None


def stored(Y: Data) -> Array:
    """Return the numbers that are stored: all entries, or the non-zeros of sparse data."""
    values: Array = Y.data if sp.issparse(Y) else Y
    return values
