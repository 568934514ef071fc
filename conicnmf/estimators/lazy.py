"""Samples of Dask, arrays or frames: fitted by workers, coded chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.errors import InputError, require
from conicnmf.incoming import is_lazy
from conicnmf.settings import check_parameters


def is_dask(X: Any) -> bool:
    """Whether samples are an array or a frame of Dask.

    Examples
    --------
    >>> is_dask(np.eye(2))
    False
    """
    package = type(X).__module__.partition(".")[0]
    return is_lazy(X) and package in ("dask", "dask_expr")


def as_rows_of_dask(estimator: Any, X: Any, reset: bool) -> Any:
    """Return samples as a Dask array of floats, a sample in each row; note what a fit notes."""
    require("distributed", "dask", "samples of Dask need")
    names = None
    if hasattr(X, "to_dask_array"):
        names = np.array([str(name) for name in X.columns], dtype=object)
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2:
        raise InputError(
            f"X must have a sample in each row, got a Dask array of shape {X.shape}; use .reshape"
        )
    if reset:
        check_parameters(estimator)
        estimator.n_features_in_ = int(X.shape[1])
        if names is not None:
            estimator.feature_names_in_ = names
    elif X.shape[1] != estimator.n_features_in_:
        raise InputError(
            f"X must have {estimator.n_features_in_} features as the fitted samples had, got "
            f"{X.shape[1]}; pass the same columns"
        )
    kind = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return X.astype(kind).rechunk({1: -1})


def names_of_dask(X: Any) -> tuple[None, list[str] | None]:
    """Return the names of samples, which are not looked at, and of features."""
    columns = getattr(X, "columns", None)
    return None, None if columns is None else [str(name) for name in columns]


def split_missing(X: Any) -> tuple[Any, Any]:
    """Return V = Xᵀ with zeros for missing entries, and which entries are there where not all are.

    One pass over the samples looks for NaN.
    """
    import dask.array as da

    missing = da.isnan(X)
    if not bool(missing.any().compute()):
        return X.T, None
    return da.where(missing, 0, X).astype(X.dtype).T, ~missing.T


def squared_size(V: Any, observed: Any) -> float:
    """Return ‖V‖² over what is there."""
    own = V if observed is None else V * observed
    return float((own**2).sum().compute())


def coded(X: Any, code: Any, components: int) -> Any:
    """Return the codes as a Dask array, each chunk of samples coded by itself."""
    chunks = (X.chunks[0], (components,))
    return X.map_blocks(code, dtype=X.dtype, chunks=chunks, meta=np.empty((0, 0), dtype=X.dtype))
