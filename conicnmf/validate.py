"""Checks of what comes from the user's side, made before any work is done."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.incoming import as_csr, at_most_double, require_loaded
from conicnmf.settings import shown
from conicnmf.types import Array, Data, stored

_WEIGHTED = (
    "set them to 0 and leave them out of the loss with weights, e.g. "
    "factorize(V, rank, loss=WeightedFrobenius(mask))"
)


def as_data(V: Any, name: str = "V", missing: str = _WEIGHTED) -> Data:
    """Return V as a finite two-dimensional float array, or CSR array when it is sparse.

    Single precision is kept; other kinds of numbers become double. V itself is not changed. `missing`
    says what to do about entries that are not finite.

    Examples
    --------
    >>> as_data([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    data: Data = as_csr(V, name) if sp.issparse(V) else as_numbers(V, name)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(
            f"{name} must be a non-empty matrix (features × samples), got shape {data.shape}; "
            "reshape one image to a column with V.reshape(-1, 1)"
        )
    data = _as_floats(data)
    _require_finite(stored(data), name, missing)
    return data


def as_matrix(X: Any, name: str, shape: tuple[int, int]) -> Array:
    """Return X as a finite float matrix of the given shape.

    Examples
    --------
    >>> as_matrix([[1, 2]], "W", (1, 2))
    array([[1., 2.]])
    """
    matrix = as_numbers(X, name)
    if matrix.shape != shape:
        raise InputError(
            f"{name} must have shape {shape}, got {matrix.shape}; transpose or crop it"
        )
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} must be finite, got NaN or infinite entries; replace them first")
    floats: Array = _as_floats(matrix)
    return floats


def as_rank(rank: Any) -> int:
    """Return the rank as a positive integer.

    Examples
    --------
    >>> as_rank(4)
    4
    """
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise InputError(f"rank must be a positive integer, got {shown(rank)}; try rank=4")
    return int(rank)


def as_labels(y: Any, name: str) -> Any:
    """Return labels as an array of whole numbers.

    Examples
    --------
    >>> as_labels([0, 1, 1], "y")
    array([0, 1, 1])
    """
    labels: Any = as_numbers(y, name)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be a list of whole numbers, got dtype {labels.dtype}, shape "
            f"{labels.shape}; encode classes with np.unique(names, return_inverse=True)[1]"
        )
    return labels


def as_numbers(X: Any, name: str) -> Array:
    """Return X as an array of real numbers, of whatever shape.

    Examples
    --------
    >>> as_numbers([True, False], "mask")
    array([ True, False])
    """
    require_loaded(X, name)
    if isinstance(X, np.ma.MaskedArray):
        raise InputError(
            f"{name} must be a plain array, got a masked one; fill it with X.filled(0) and leave "
            "the masked entries out of the loss with weights, WeightedFrobenius(~X.mask)"
        )
    array: Array = as_array(X, name)
    _require_real(array.dtype, name, _columns_of_words(X))
    numbers: Array = at_most_double(array)
    return numbers


def as_array(X: Any, name: str) -> Any:
    """Return X as an array of whatever it holds.

    Examples
    --------
    >>> as_array(["a", "b"], "y").shape
    (2,)
    """
    if sp.issparse(X):
        raise InputError(f"{name} must be dense, got a sparse {X.format} array; use .toarray()")
    try:
        return np.asarray(X)
    except MemoryError:
        raise
    except Exception as error:  # objects have their own ways to become arrays, and to fail
        raise InputError(
            f"{name} must be a rectangular matrix of numbers, got {error}; give all rows "
            "the same length"
        ) from error


def as_classes(y: Any, n_samples: int, name: str) -> tuple[Any, NDArray[np.intp]]:
    """Return the classes that labels name, sorted, and the place there of each sample's class.

    Examples
    --------
    >>> as_classes(["no", "yes", "no"], 3, "y")[1]
    array([0, 1, 0])
    """
    labels = as_array(y, name)
    if labels.shape != (n_samples,):
        raise InputError(
            f"{name} must have one label for each of the {n_samples} samples, got shape "
            f"{labels.shape}; samples are columns of V"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InputError(f"{name} must have no NaN, got {labels}; leave these samples out")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must have labels of the same type, got several types; use numbers"
        ) from None
    return classes, codes


def _as_floats(X: Data) -> Data:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _require_real(dtype: np.dtype[Any], name: str, words: list[str]) -> None:
    if dtype.kind in "fiub":
        return
    got, remedy = f"dtype {dtype}", "convert it with .astype(float)"
    if words:
        more = "" if len(words) == 1 else f" and {len(words) - 1} more"
        got = f"the column {words[0]!r}{more} of another kind"
        remedy = f"leave it out with {name}.select_dtypes('number'), or {remedy}"
    raise InputError(f"{name} must hold real numbers, got {got}; {remedy}")


def _columns_of_words(X: Any) -> list[str]:
    """Return the columns of a data frame that hold no numbers."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return []
    pairs = zip(X.columns, X.dtypes, strict=True)
    return [str(label) for label, dtype in pairs if getattr(dtype, "kind", "O") not in "fiub"]


def _require_finite(values: Array, name: str, missing: str) -> None:
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite entries; {missing}")
    require_range(values, values.dtype, name)


def require_range(values: Array, precision: Any, name: str) -> None:
    """Raise where squares of finite numbers would leave the range of a precision.

    Examples
    --------
    >>> require_range(np.array([1e30]), np.float32, "W")
    Traceback (most recent call last):
    conicnmf.errors.InputError: W must have a largest entry whose square is a normal number, got ...
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest and not has_square(largest, precision):
        raise InputError(
            f"{name} must have a largest entry whose square is a normal number, got {largest:.3g}; "
            f"divide {name} by that entry first"
        )


def has_square(size: float, precision: Any) -> bool:
    """Whether sums of squares of numbers of this size stay within the range of a precision.

    Examples
    --------
    >>> has_square(1e30, np.float32), has_square(1e30, np.float64)
    (False, True)
    """
    limits = np.finfo(precision)
    # The square root of the extremes, with room for sums over many entries.
    return bool(float(limits.tiny) ** 0.45 <= size <= float(limits.max) ** 0.45)
