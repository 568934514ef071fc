"""The nuclear norm, the sum of singular values: least ½‖X − A‖² + weight ‖X‖_*."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.rows import as_rows
from conicnmf.types import Array


def shrink_singular_values(A: ArrayLike, weight: float) -> Array:
    """Return A with every singular value made smaller by `weight`, but not below 0.

    Examples
    --------
    >>> shrink_singular_values([[3.0, 0.0], [0.0, 1.0]], 1.5)
    array([[1.5, 0. ],
           [0. , 0. ]])
    """
    whole = as_rows(A)
    left, values, right = np.linalg.svd(whole, full_matrices=False)
    return np.asarray((left * np.maximum(values - weight, 0.0)) @ right, dtype=whole.dtype)
