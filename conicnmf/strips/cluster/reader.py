"""A Dask array as strips of columns: a strip is a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr
from conicnmf.strips.crew import as_strip
from conicnmf.strips.readers import Reader
from conicnmf.strips.weighed import columns_of, weighed
from conicnmf.types import Data


@dataclass(frozen=True, eq=False)
class DaskReader(Reader):
    """A Dask array, features × samples, whose chunks hold all features of some samples.

    Examples
    --------
    >>> import dask.array as da
    >>> reader = DaskReader.of(da.ones((4, 6), chunks=(2, 3)))
    >>> reader.edges, reader.load(1).shape
    ((0, 3, 6), (4, 3))
    """

    fresh: ClassVar[bool] = False
    array: Any
    weights: Any = None
    """Those of the entries, in memory or as another Dask array."""

    @classmethod
    def of(cls, array: Any) -> DaskReader:
        """Return the reader of an array; chunks that split features are put together."""
        if getattr(array, "ndim", 0) != 2 or not hasattr(array, "chunks"):
            raise InputError(
                f"V must be a matrix of Dask (features × samples), got a {type(array).__name__}; a "
                "frame with a sample in each row becomes one by .to_dask_array(lengths=True).T"
            )
        if np.isnan(np.concatenate(array.chunks)).any():
            raise InputError(
                f"the chunks of V must have known sizes, got shape {array.shape}; call "
                "V.compute_chunk_sizes() first"
            )
        if 0 in array.shape:
            raise InputError(f"V must not be empty, got shape {array.shape}; check how it was made")
        if np.dtype(array.dtype).kind not in "fiub":
            raise InputError(
                f"V must hold real numbers, got dtype {array.dtype}; convert it with .astype(float)"
            )
        whole = array.rechunk({0: -1}) if array.numblocks[0] > 1 else array
        if 0 in whole.chunks[1]:
            whole = whole.rechunk({1: tuple(width for width in whole.chunks[1] if width)})
        return cls(whole)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the array."""
        return int(self.array.shape[0]), int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        own: np.dtype[Any] = np.dtype(self.array.dtype)
        return own

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """A strip a chunk."""
        return (0, *(int(end) for end in np.cumsum(self.array.chunks[1])))

    def load(self, k: int) -> Data:
        """Compute a chunk and bring it here."""
        found: Data = self.blocks[k].compute()
        return found

    @cached_property
    def blocks(self) -> list[Any]:
        """The chunks as work that is still to be done, each with its check."""
        from dask import delayed

        chunks = self.array.to_delayed().ravel()
        widths = self.array.chunks[1]
        found = [
            delayed(as_block)(chunk, (self.shape[0], int(width)))
            for chunk, width in zip(chunks, widths, strict=True)
        ]
        if self.weights is None:
            return found
        return [
            delayed(weighed)(block, own)
            for block, own in zip(found, self._weights_of_chunks(), strict=True)
        ]

    def _weights_of_chunks(self) -> list[Any]:
        edges = self.edges
        if not hasattr(self.weights, "to_delayed"):
            own = self.weights.tocsc() if hasattr(self.weights, "tocsc") else self.weights
            return [columns_of(own, *edges[k : k + 2]) for k in range(self.count)]
        wide = self.weights.shape[1] > 1
        own = self.weights.rechunk({0: -1, 1: self.array.chunks[1] if wide else -1})
        parts = list(own.to_delayed().ravel())
        return parts if wide else parts * self.count


def as_block(chunk: Any, shape: tuple[int, int]) -> Data:
    """Return a computed chunk as numbers that kernels may walk through.

    Examples
    --------
    >>> as_block(np.ones((2, 2), dtype=int), (2, 2)).dtype
    dtype('float64')
    """
    own: Any = as_csr(chunk, "V") if sp.issparse(chunk) else np.ascontiguousarray(chunk)
    if own.shape != shape or own.dtype.kind not in "fiub":
        raise InputError(
            f"a chunk of V must have shape {shape} and real numbers as its array says, got "
            f"{type(chunk).__name__} of shape {own.shape} and dtype {own.dtype}; check how it was made"
        )
    return as_strip(own)
