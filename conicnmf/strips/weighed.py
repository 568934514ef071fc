"""Strips of data that come with the weights of their entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr
from conicnmf.strips.readers import Reader
from conicnmf.types import Data, stored


@dataclass(frozen=True, eq=False)
class Weighed:
    """A strip of the data and one of their weights; multiples are those of the data.

    Examples
    --------
    >>> both = Weighed(np.ones((2, 3)), np.eye(2, 3)) * 2.0
    >>> both.shape, both.values.max(), both.weights.max()
    ((2, 3), np.float64(2.0), np.float64(1.0))
    """

    values: Any
    weights: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the data."""
        found: tuple[int, int] = self.values.shape
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the data."""
        found: np.dtype[Any] = self.values.dtype
        return found

    def astype(self, dtype: Any) -> Weighed:
        """Return the data in another type."""
        return Weighed(self.values.astype(dtype), self.weights)

    def __mul__(self, factor: Any) -> Weighed:
        return Weighed(self.values * factor, self.weights)


def weighed(values: Data, weights: Any) -> Weighed:
    """Return a strip with its weights, once these are checked."""
    own: Any = as_csr(weights, "weights") if sp.issparse(weights) else np.asarray(weights)
    own = own if own.dtype in (np.float32, np.float64) else own.astype(np.float64)
    found = stored(own)
    if not np.isfinite(found).all() or (found < 0).any():
        low, high = found.min(initial=0.0), found.max(initial=0.0)
        raise InputError(
            f"weights must be finite and non-negative, got values from {low} to {high}; use 1 for "
            "observed entries and 0 for missing ones"
        )
    return Weighed(values, own)


def columns_of(weights: Any, first: int, last: int) -> Any:
    """Return the weights of some samples: as they are where all samples have the same.

    Examples
    --------
    >>> columns_of(np.ones((3, 1)), 4, 6).shape, columns_of(np.ones((3, 9)), 4, 6).shape
    ((3, 1), (3, 2))
    """
    return weights if weights.shape[1] == 1 else weights[:, first:last]


@dataclass(frozen=True, eq=False)
class WeighedReader(Reader):
    """Data and their weights, which are read in the same strips."""

    reader: Reader
    weights: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the data."""
        return self.reader.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the data."""
        return self.reader.dtype

    @property
    def fresh(self) -> bool:  # type: ignore[override]
        """As the reader of the data."""
        return self.reader.fresh

    @property
    def edges(self) -> tuple[int, ...]:
        """The strips of the data."""
        return self.reader.edges

    def load(self, k: int) -> Any:
        """Return both."""
        return weighed(self.reader.load(k), columns_of(self.weights, *self.edges[k : k + 2]))
