"""Entries that are held out of a fit: who knows them, which fold has them, data without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr
from conicnmf.types import Data
from conicnmf.validate import as_array


def deal_entries(
    shape: tuple[int, ...], folds: int, seed: int = 0, observed: Any = None
) -> list[Data]:
    """Return a mask of the held-out entries for each fold; every known entry is in one of them.

    The masks are sparse where `observed` is, and the same entries either way.

    Examples
    --------
    >>> [int(part.sum()) for part in deal_entries((3, 4), 2)]
    [6, 6]
    """
    known = known_entries(shape, observed)
    places = np.arange(known.nnz) if sp.issparse(known) else np.flatnonzero(known)
    if folds > places.size:
        raise InputError(f"{places.size} known entries cannot fill {folds} folds; use fewer folds")
    fold = np.full(known.nnz if sp.issparse(known) else known.size, -1)
    fold[np.random.default_rng(seed).permutation(places)] = np.arange(places.size) % folds
    if sp.issparse(known):
        return [_stored(known, fold == k) for k in range(folds)]
    return [(fold == k).reshape(shape) for k in range(folds)]


def known_entries(shape: tuple[int, ...], observed: Any) -> Data:
    """Return a mask of the known entries, all of them by default; a sparse one stays sparse.

    Examples
    --------
    >>> known_entries((1, 2), None)
    array([[ True,  True]])
    """
    if observed is None:
        return np.ones(shape, dtype=bool)
    mask = observed if sp.issparse(observed) else as_array(observed, "observed")
    if mask.shape != tuple(shape) or mask.dtype != bool:
        raise InputError(
            f"observed must be a boolean array of V's shape {tuple(shape)}, got {mask.dtype} of "
            f"shape {mask.shape}; write ~np.isnan(V), or V != 0 for sparse V"
        )
    if not sp.issparse(mask):
        return mask
    found = as_csr(mask, "observed").astype(bool)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def without(known: Data, part: Data) -> Data:
    """Return the known entries that are not in a part."""
    if sp.issparse(known):
        return sp.csr_array(known.astype(np.int8) - part.astype(np.int8)).astype(bool)
    return known & ~part


def only(V: Data, kept: Data) -> Data:
    """Return data that are zero but in the entries that are kept."""
    if sp.issparse(kept):
        return sp.csr_array(kept * V).astype(V.dtype)
    return np.where(kept, V, 0).astype(V.dtype)


def _stored(pattern: Data, chosen: Any) -> Data:
    """Return the entries of a sparse mask that are chosen among the stored ones."""
    # A copy, since what is not chosen is taken out in place.
    part = sp.csr_array((chosen, pattern.indices, pattern.indptr), shape=pattern.shape, copy=True)
    part.eliminate_zeros()
    return part
