"""Codes and components that a user gives as a start, checked as scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.estimators.valid import WrongKindError
from conicnmf.settings import shown
from conicnmf.solve.starts import Given
from conicnmf.types import Array, Data


def custom_start(V: Data, rank: Any, codes: Any, components: Any) -> tuple[Given, int]:
    """Return the start with these factors, and its number of components.

    Examples
    --------
    >>> custom_start(np.ones((3, 4)), "auto", np.ones((4, 2)), np.ones((2, 3)))[1]
    2
    """
    rank = None if rank == "auto" else rank
    H = given_components(V, rank, components)
    _check_life(H, "H")
    W = _given(codes, "W", (V.shape[1], len(H)))
    _check_life(W, "W")
    if W.dtype != V.dtype or H.dtype != V.dtype:
        raise WrongKindError(
            f"H and W should have the same dtype as X, {V.dtype}, got H of {H.dtype} and W of "
            f"{W.dtype}; use W.astype(X.dtype)"
        )
    return Given(W=H.T, H=W.T), len(H)


def given_components(V: Data, rank: int | None, components: Any) -> Array:
    """Return components that a user gives, once they fit the samples.

    Examples
    --------
    >>> given_components(np.ones((3, 4)), 2, np.ones((2, 3))).shape
    (2, 3)
    """
    wanted = rank if rank is not None else (np.shape(components) or (1,))[0]
    return _given(components, "H", (wanted, V.shape[0]))


def _given(A: Any, name: str, shape: tuple[int, int]) -> Array:
    A = np.asarray(A)
    if A.ndim != 2 or A.dtype.kind not in "fiu":
        raise InputError(
            f"init='custom' needs {name} as an array of shape {shape}, got {shown(A)}; pass "
            "fit_transform(X, W=codes, H=components)"
        )
    for axis, place in enumerate(("first", "second")):
        if A.shape[axis] != shape[axis]:
            raise InputError(
                f"Array with wrong {place} dimension passed to NMF (input {name}): it must have "
                f"shape {shape}, got {A.shape}; reshape it, or change n_components"
            )
    if not np.isfinite(A).all():
        raise InputError(f"{name} must be finite, got NaN or infinity; replace these entries")
    if A.min(initial=0) < 0:
        raise InputError(
            f"Negative values in data passed to NMF (input {name}): it must be >= 0, got "
            f"{A.min():g}; take its magnitudes"
        )
    return np.asarray(A)


def _check_life(A: Array, name: str) -> None:
    if not A.any():
        raise InputError(
            f"Array passed to NMF (input {name}) is full of zeros, which no method can change; "
            "give small positive numbers"
        )
