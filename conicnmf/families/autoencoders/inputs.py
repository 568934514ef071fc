"""Checks of what autoencoders are given, and what their settings amount to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.geometry.cones import cone_ratio
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.types import Array
from conicnmf.validate import as_classes, as_data, as_matrix, as_numbers


def standardize(V: Any) -> Array:
    """Return V with every sample (column) at mean 0 and variance 1; constant samples become 0.

    Examples
    --------
    >>> standardize([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = np.array(as_samples(V, "V"), order="C")
    X -= X.mean(axis=0, keepdims=True)
    spread = X.std(axis=0, keepdims=True)
    rounding = 8 * np.finfo(X.dtype).eps * np.abs(V).max(axis=0, keepdims=True)
    constant = spread <= rounding
    X /= np.where(constant, 1, spread)
    X *= ~constant
    return X


def l1_ratio(length: int, sparseness: float | None) -> float | None:
    """Return ‖x‖₁/‖x‖₂ of vectors with this sparseness.

    Examples
    --------
    >>> l1_ratio(100, 0.5), l1_ratio(100, None)
    (5.5, None)
    """
    return None if sparseness is None else cone_ratio(length, sparseness)


def off_sparseness(B: Array, wanted: float) -> float:
    """Return how far the sparseness of any row is from the wanted one; zero rows are infinitely far.

    Examples
    --------
    >>> off_sparseness(np.eye(2), 0.75)
    0.25
    """
    if B.shape[1] == 1:
        return 0.0
    return float(np.nan_to_num(np.abs(hoyer_sparseness(B) - wanted), nan=np.inf).max())


def as_samples(V: Any, name: str) -> Array:
    """Return dense data with samples as columns, in the order in which they are read.

    Examples
    --------
    >>> as_samples([[1, 2]], "V")
    array([[1., 2.]])
    """
    return np.ascontiguousarray(as_data(as_numbers(V, name), name))


def binary_teacher(y: Any, V: Array, name: str = "y") -> Array:
    """Return −1 for the smaller label and +1 for the larger, one a sample.

    Examples
    --------
    >>> binary_teacher(["no", "yes", "no"], np.ones((2, 3)))
    array([-1.,  1., -1.])
    """
    classes, codes = as_classes(y, V.shape[1], name)
    if len(classes) != 2:
        raise InputError(
            f"{name} must have two classes, got {len(classes)}; SCFCClassifier takes more, with one "
            "bank of filters for each class against the others"
        )
    return np.where(codes == 1, 1, -1).astype(V.dtype)


def given(init: Any, shapes: Mapping[str, Any], kind: Any) -> dict[str, Array]:
    """Return the variables that a start names: a dict of them, a pair (W, H), or None.

    Examples
    --------
    >>> given(None, {"W": (2, 1)}, np.float64)
    {}
    """
    if init is None:
        return {}
    pair = isinstance(init, (tuple, list)) and 0 < len(init) <= 2
    if not pair and not isinstance(init, Mapping):
        raise InputError(
            "the start of an autoencoder is a dict of arrays by name or a pair (W, H), got "
            f"{init!r}; the variables are {', '.join(shapes)}"
        )
    named = init if isinstance(init, Mapping) else dict(zip("WH", init, strict=False))
    unknown = set(named) - set(shapes)
    if unknown:
        listed = ", ".join(sorted(map(str, unknown)))
        raise InputError(
            f"a start names variables of the problem, got {listed}; they are {', '.join(shapes)}"
        )
    return {name: as_matrix(X, name, shapes[name]).astype(kind) for name, X in named.items()}


def sum_squares(X: Array) -> float:
    """Return ‖X‖², row by row in double precision.

    Examples
    --------
    >>> sum_squares(np.array([[3.0], [4.0]]))
    25.0
    """
    rows = X.reshape(len(X), -1) if X.ndim > 1 else X[None]
    return float(np.einsum("ij,ij->i", rows, rows).sum(dtype=np.float64))
