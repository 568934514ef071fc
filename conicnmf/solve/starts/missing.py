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
    V, weights = fit.V, getattr(fit.loss, "weights", None)
    if weights is None:
        return V
    known = sp.csr_array(weights != 0) if sp.issparse(weights) else weights != 0
    if sp.issparse(V):
        return sp.csr_array(V * known)
    seen = known.toarray() if sp.issparse(known) else np.broadcast_to(known, V.shape)
    if seen.all():
        return V
    counts = seen.sum(axis=1, keepdims=True)
    whole = np.sum(V, where=seen) / counts.sum()
    sums = np.sum(V, axis=1, keepdims=True, where=seen)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), whole)
    return np.where(seen, V, means).astype(V.dtype, copy=False)
