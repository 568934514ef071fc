"""Samples as scikit-learn checks them, once it is safe to read them."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from conicnmf.errors import InputError
from conicnmf.incoming import check_incoming
from conicnmf.settings import Reads, check_parameters, shown


def _as_random_state(given: Any, name: str) -> Any:
    try:
        check_random_state(given)
    except Exception:  # scikit-learn prints what it refuses, and objects have their own texts
        raise InputError(
            f"{name} must be a whole number >= 0, None or a RandomState, got {shown(given)}; try 0"
        ) from None
    return given


RandomState: TypeAlias = Annotated[Any, Reads(_as_random_state)]
"""What scikit-learn takes for a source of random numbers."""


class WrongKindError(InputError, TypeError):
    """X is of a kind that scikit-learn answers with a TypeError.

    Examples
    --------
    >>> issubclass(WrongKindError, TypeError), issubclass(WrongKindError, ValueError)
    (True, True)
    """


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
    try:
        with np.errstate(all="ignore"):  # it adds up X, whatever that holds
            return validate_data(estimator, X, **checks)
    except (ValueError, TypeError) as error:
        kind = WrongKindError if isinstance(error, TypeError) else InputError
        raise kind(f"X is not valid data for {_refusal(estimator, X, error)}") from error


def classes_of(y: Any) -> Any:
    """Return the classes that labels name, sorted.

    Examples
    --------
    >>> classes_of(np.array(["b", "a", "b"])).tolist()
    ['a', 'b']
    """
    try:
        check_classification_targets(y)
    except ValueError as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"y must name classes, got {shown(y)}: {said}; label them by class"
        ) from error
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(
            f"y must name at least two classes, got one class, {classes.tolist()}; label samples "
            "of another class too"
        )
    return classes


def _refusal(estimator: Any, X: Any, error: Exception) -> str:
    """Return who refuses X, what scikit-learn says of it, and what to do."""
    said = str(error).splitlines()[0].rstrip(".:")
    remedies = {
        "Input y": "leave samples without a label out",
        "inconsistent numbers": "give one label per sample",
        "requires y": "pass the labels of the samples, fit(X, y)",
        "2D array": "Reshape your data, X.reshape(1, -1) is one sample, X.reshape(-1, 1) one feature",
        "NaN": "SparseNMF leaves missing entries out, or fill them in",
        "infinity": "replace or drop these entries",
        "Sparse data": "use X.toarray()",
        "Negative": "shift or clip X, for example np.maximum(X, 0)",
        "features": "give the features that it was fitted to",
        "Complex": "take its real part or its magnitude",
    }
    usual = "give a matrix of numbers, samples × features"
    if hasattr(X, "select_dtypes"):
        usual = 'keep its columns of numbers, X.select_dtypes("number")'
    remedy = next((own for word, own in remedies.items() if word in said), usual)
    return f"{type(estimator).__name__}: {said}, got {_told(X)}; {remedy}"


def _told(X: Any) -> str:
    shape = getattr(X, "shape", None)
    return shown(X) if shape is None else f"{type(X).__name__} of shape {shape}"
