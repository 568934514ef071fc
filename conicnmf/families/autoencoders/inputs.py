"""Checks of what autoencoders are given, and what their settings amount to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.geometry.cones import cone_ratio
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.types import Array
from conicnmf.validate import as_data, as_matrix


def standardize(V: Any) -> Array:
    """Return V with every sample (column) at mean 0 and variance 1; constant samples become 0.

    Examples
    --------
    >>> standardize([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = np.array(as_data(V), order="C")
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


def check_sparseness(name: str, value: float | None) -> None:
    """Raise unless a sparseness is None or lies between 0 and 1.

    Examples
    --------
    >>> check_sparseness("sparseness_w", 0.8)
    """
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{name} must be None or 0 <= {name} <= 1, got {value}; try 0.8")


def check_exponent(q: int) -> None:
    """Raise unless q is odd, so that f keeps the sign.

    Examples
    --------
    >>> check_exponent(3)
    """
    if q < 1 or q % 2 == 0:
        raise InputError(f"q must be odd, 1, 3, 5, …, got {q}; the paper asks for 3 or more")


def check_share(alpha_i: float, alpha_c: float | None, taught: bool) -> None:
    """Raise unless the weights of inference and classification leave a convex combination.

    Examples
    --------
    >>> check_share(0.5, 0.5, taught=True)
    """
    teach = alpha_c or 0.0
    if not (alpha_i >= 0 and teach >= 0 and alpha_i + teach <= 1):
        raise InputError(
            f"alpha_i and alpha_c need alpha >= 0 and a sum <= 1, got {alpha_i} and {teach}; try 0.5"
        )
    if teach and not taught:
        raise InputError(f"alpha_c = {teach} needs a teacher, got none; pass y or leave it out")


def binary_teacher(y: Any, V: Array) -> Array:
    """Return −1 for the smaller label and +1 for the larger, one a sample.

    Examples
    --------
    >>> binary_teacher(["no", "yes", "no"], np.ones((2, 3)))
    array([-1.,  1., -1.])
    """
    labels = np.asarray(y)
    if labels.shape != (V.shape[1],):
        raise InputError(f"y needs one label a sample, {V.shape[1]} of them, got {labels.shape}")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(
            f"y must have two classes, got {len(classes)}; SCFCClassifier takes more, with one bank "
            "of filters for each class against the others"
        )
    return np.where(labels == classes[1], 1, -1).astype(V.dtype)


def given(init: Any, shapes: Mapping[str, Any], kind: Any) -> dict[str, Array]:
    """Return the variables that a start names: a dict of them, a pair (W, H), or None.

    Examples
    --------
    >>> given(None, {"W": (2, 1)}, np.float64)
    {}
    """
    if init is None:
        return {}
    named = init if isinstance(init, Mapping) else dict(zip("WH", init, strict=False))
    unknown = set(named) - set(shapes)
    if unknown:
        raise InputError(
            f"init names {', '.join(sorted(unknown))}; the variables are {', '.join(shapes)}"
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
