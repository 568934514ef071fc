"""Samples as scikit-learn checks them, once they are safe to be looked at."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

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
    return validate_data(estimator, X, **checks)
