"""The data that a start may look at: what is stored under a weight of zero says nothing."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conicnmf.model.addends import Fit
from conicnmf.types import Data


def known_data(fit: Fit) -> Data:
    """Return the data of a fit, with the mean of its feature for each missing entry.

    Sparse data have nothing in place of missing entries, so that they stay sparse.

    Examples
    --------
    >>> import conicnmf as cn
    >>> loss = cn.WeightedFrobenius(np.array([[1, 1, 0], [0, 1, 1]]))
    >>> known_data(cn.factorize(np.array([[1.0, 3.0, 9.0], [9.0, 4.0, 4.0]]), 1, loss=loss).fit)
    array([[1., 3., 2.],
           [4., 4., 4.]])
    """
    V, known = fit.V, _known(fit)
    if known is None or sp.issparse(V):
        return without_missing(fit)
    counts = known.sum(axis=1, keepdims=True)
    whole = np.sum(V, where=known) / counts.sum()
    sums = np.sum(V, axis=1, keepdims=True, where=known)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), whole)
    return np.where(known, V, means).astype(V.dtype, copy=False)


def without_missing(fit: Fit) -> Data:
    """Return the data of a fit, with zero for each missing entry."""
    V, known = fit.V, _known(fit)
    if known is None:
        return V
    return sp.csr_array(V * known) if sp.issparse(V) else np.where(known, V, V.dtype.type(0))


def _known(fit: Fit) -> Data | None:
    """Return which entries have a weight, nothing where all of them do; dense for dense data."""
    weights = getattr(fit.loss, "weights", None)
    if weights is None:
        return None
    if sp.issparse(weights):
        known = sp.csr_array(weights != 0)
        return known if sp.issparse(fit.V) else known.toarray()
    mask = np.broadcast_to(weights != 0, fit.V.shape)
    return None if mask.all() else mask
