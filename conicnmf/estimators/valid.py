"""Samples as scikit-learn checks them, once they are safe to be looked at."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from conicnmf.errors import InputError
from conicnmf.incoming import check_incoming
from conicnmf.settings import Reads, check_parameters, shown


def _as_random_state(given: Any, name: str) -> Any:
    try:
        check_random_state(given)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"{name} must be a whole number >= 0, None or a RandomState, got {shown(given)}; try 0"
        ) from None
    return given


RandomState: TypeAlias = Annotated[Any, Reads(_as_random_state)]
"""What scikit-learn takes for a source of random numbers."""


def validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """Return X as scikit-learn's `validate_data` does; sparse X must be sound, lazy X computed.

    At the begin of a fit, with `reset`, the parameters of the estimator are checked as well.

    Examples
    --------
    >>> from conicnmf.estimators import SparseNMF
    >>> validated(SparseNMF(), [[1.0, 2.0]], reset=True)
    array([[1., 2.]])
    """
    if checks.get("reset"):
        check_parameters(estimator)
    check_incoming(X, "X")
    if isinstance(X, np.ma.MaskedArray):  # scikit-learn would take what is under the mask
        raise InputError(
            "X must be a plain array, got a masked one; X.filled(np.nan) marks missing entries for "
            "estimators that take them"
        )
    return validate_data(estimator, X, **checks)
