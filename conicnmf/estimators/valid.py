"""Samples as scikit-learn checks them, once they are safe to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from conicnmf.errors import InputError
from conicnmf.incoming import check_incoming


def validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """Return X as scikit-learn's `validate_data` does; sparse X must be sound, lazy X computed.

    Examples
    --------
    >>> from conicnmf.estimators import SparseNMF
    >>> validated(SparseNMF(), [[1.0, 2.0]], reset=True)
    array([[1., 2.]])
    """
    check_incoming(X, "X")
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would take what is under the mask
        raise InputError(
            "X must be a plain array, got a masked one; X.filled(np.nan) marks missing entries for "
            "estimators that take them"
        )
    return validate_data(estimator, X, **checks)
