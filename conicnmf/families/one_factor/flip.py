"""Median flipping: features turned so that one class lies nearer to the origin in all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.operators import dense
from conicnmf.types import Array, Mask
from conicnmf.validate import as_data


@dataclass(frozen=True, eq=False)
class MedianFlip:
    """x_j ← upper_j − x_j where the first class has the larger median.

    After it a non-negative filter can tell two classes apart whichever is larger in a feature.

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
        data, labels = dense(as_data(V)), np.asarray(y)
        classes = np.unique(labels)
        if len(classes) != 2 or labels.shape != (data.shape[1],):
            raise InputError(
                f"MedianFlip needs two classes and one of them for each of the {data.shape[1]} "
                f"samples, got {len(classes)} classes and shape {labels.shape}"
            )
        inner, outer = (np.median(data[:, labels == c], axis=1) for c in classes)
        bound = data.max(axis=1) if upper is None else np.asarray(upper, dtype=data.dtype)
        return cls(inner > outer, np.broadcast_to(bound, inner.shape))

    def apply(self, V: Any) -> Array:
        """Return the data with the chosen features turned round."""
        data = dense(as_data(V))
        if data.shape[0] != len(self.flipped):
            raise InputError(
                f"V must have the {len(self.flipped)} features that were learned, got "
                f"{data.shape[0]}"
            )
        return np.where(self.flipped[:, None], self.upper[:, None] - data, data)

    def signed(self, w: Array) -> Array:
        """Return the weights of a filter on the data as they were before flipping."""
        return np.where(self.flipped, -1.0, 1.0) * np.asarray(w).ravel()
