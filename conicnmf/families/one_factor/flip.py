"""Median flipping: features turned so that one class lies nearer to the origin in all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.operators import dense
from conicnmf.types import Array, Mask
from conicnmf.validate import as_classes, as_data, as_numbers


@dataclass(frozen=True, eq=False)
class MedianFlip:
    """x_j ← upper_j − x_j where the first class has the larger median.

    Afterwards a non-negative filter can separate two classes, whichever is larger in a feature.

    Attributes
    ----------
    flipped : array of bool
        The features that are turned round.
    upper : array
        Their upper bounds.

    Examples
    --------
    >>> V = np.array([[1.0, 2.0, 8.0, 9.0], [9.0, 8.0, 2.0, 1.0]])
    >>> flip = MedianFlip.learn(V, [0, 0, 1, 1], upper=10)
    >>> flip.flipped
    array([False,  True])
    >>> flip.apply(V)[1]
    array([1., 2., 8., 9.])
    """

    flipped: Mask
    upper: Array

    @classmethod
    def learn(cls, V: Any, y: Any, upper: Any = None) -> MedianFlip:
        """Return what to flip; `upper` is the largest value of each feature unless it is given."""
        data = dense(as_data(V))
        classes, codes = as_classes(y, data.shape[1], "y")
        if len(classes) != 2:
            raise InputError(
                f"MedianFlip needs two classes, got {len(classes)}; label them by class, or drop "
                "the others"
            )
        inner, outer = (np.median(data[:, codes == c], axis=1) for c in (0, 1))
        return cls(inner > outer, data.max(axis=1) if upper is None else _bounds(upper, data))

    def apply(self, V: Any) -> Array:
        """Return the data with the chosen features turned round."""
        data = dense(as_data(V))
        if data.shape[0] != len(self.flipped):
            raise InputError(
                f"V must have the {len(self.flipped)} features that were learned, got "
                f"{data.shape[0]}; features are rows"
            )
        return np.where(self.flipped[:, None], self.upper[:, None] - data, data)

    def signed(self, w: Array) -> Array:
        """Return the weights of a filter on the data as they were before flipping."""
        return np.where(self.flipped, -1.0, 1.0) * np.asarray(w).ravel()


def _bounds(upper: Any, data: Array) -> Array:
    """Return an upper bound for each feature."""
    bounds = as_numbers(upper, "upper").astype(data.dtype)
    if bounds.shape not in ((), (len(data),)):
        raise InputError(
            f"upper must be one number, or one per feature, got shape {bounds.shape}; there are "
            f"{len(data)} features"
        )
    return np.broadcast_to(bounds, (len(data),))
