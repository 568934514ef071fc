"""Checks of arrays from other packages, made before any compiled code reads them.

A sparse matrix is a few arrays that must fit together. SciPy believes what they say, and compiled code
that meets an index beyond the end reads or writes somewhere else in memory. So every sparse matrix from
outside passes `as_csr`, once. Arrays that are not computed yet are refused: only you know if they fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.types import Data


def as_csr(X: Any, name: str) -> Data:
    """Return a sparse matrix as a CSR array with each entry stored once; X is not changed.

    Examples
    --------
    >>> as_csr(sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2)), "V").toarray()
    array([[0., 3.]])
    """
    if X.dtype.kind not in "fiub":
        raise InputError(
            f"{name} must hold real numbers, got dtype {X.dtype}; convert it with .astype(float)"
        )
    if X.ndim != 2:
        raise InputError(
            f"{name} must be a matrix, got a sparse array of shape {X.shape}; use .reshape"
        )
    check_sparse(X, name)
    rows = at_most_double(sp.csr_array(X))
    # Made again, because flags that were set by hand may promise an order that is not there.
    end = int(rows.indptr[-1])
    own = sp.csr_array((rows.data[:end], rows.indices[:end], rows.indptr), shape=rows.shape)
    if not own.has_canonical_format:
        own = own.copy()
        own.sum_duplicates()
    return own


def at_most_double(X: Any) -> Any:
    """Return floats wider than double in double precision; what it cannot hold becomes infinite.

    Examples
    --------
    >>> at_most_double(np.ones(2, dtype=np.longdouble)).dtype
    dtype('float64')
    """
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        with np.errstate(all="ignore"):
            return X.astype(np.float64)
    return X


def check_incoming(X: Any, name: str) -> None:
    """Raise unless X may be passed to compiled code: in memory, and sound where it is sparse.

    Examples
    --------
    >>> check_incoming(sp.csr_array(np.eye(2)), "X")
    """
    require_loaded(X, name)
    if sp.issparse(X):
        check_sparse(X, name)


def check_sparse(X: Any, name: str) -> None:
    """Raise unless the arrays of a sparse matrix fit together, whatever its format.

    Examples
    --------
    >>> wrong = sp.csr_array(np.eye(2))
    >>> wrong.indices[0] = 7
    >>> check_sparse(wrong, "V")
    Traceback (most recent call last):
    conicnmf.errors.InputError: V must be a valid csr matrix, got a column index of 7 ...
    """
    try:
        fault = _FAULTS[X.format](X)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        fault = f"invalid parts ({error})"
    if fault:
        raise InputError(
            f"{name} must be a valid {X.format} matrix, got {fault}; build it again, for example with "
            "scipy.sparse.coo_array((values, (rows, columns)), shape=shape)"
        )


def require_loaded(X: Any, name: str) -> None:
    """Raise for an array that is not computed yet, such as one of Dask.

    Examples
    --------
    >>> require_loaded(np.eye(2), "V")
    """
    if is_lazy(X):
        package = type(X).__module__.partition(".")[0]
        raise InputError(
            f"{name} must be in memory, got a {package} {type(X).__name__} of shape "
            f"{getattr(X, 'shape', 'unknown')}, which is not computed yet; if it fits in memory, "
            "call .compute() on it first"
        )


def is_lazy(X: Any) -> bool:
    """Whether an array is not computed yet.

    Examples
    --------
    >>> is_lazy(np.eye(2))
    False
    """
    graph = getattr(X, "__dask_graph__", None)
    return graph() is not None if callable(graph) else callable(getattr(X, "compute", None))


def _beyond(indices: Any, count: int, what: str) -> str:
    """Return what is wrong with indices that must be from 0 to below a count."""
    found = np.asarray(indices)
    if found.size == 0:
        return ""
    if found.dtype.kind not in "iu":
        return f"{what} indices of dtype {found.dtype}"
    low, high = int(found.min()), int(found.max())
    wrong = low if low < 0 else high
    return "" if low >= 0 and high < count else f"a {what} index of {wrong} with {count} {what}s"


def _pointers(X: Any, lines: int, across: int, what: str) -> str:
    """Return what is wrong with a compressed format of so many lines, each of so many places."""
    pointers, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if pointers.ndim != 1 or indices.ndim != 1 or pointers.dtype.kind not in "iu":
        return f"indptr and indices of shapes {pointers.shape} and {indices.shape}"
    if len(pointers) != lines + 1:
        return f"indptr of length {len(pointers)}, which must be {lines + 1}"
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        return "an indptr that decreases or does not begin with 0"
    if len(indices) != len(X.data) or pointers[-1] > len(indices):
        return f"indptr up to {pointers[-1]}, {len(indices)} indices and {len(X.data)} values"
    return _beyond(indices[: pointers[-1]], across, what)


def _csr(X: Any) -> str:
    return _one_number_each(X) or _pointers(X, X.shape[0], X.shape[1], "column")


def _csc(X: Any) -> str:
    return _one_number_each(X) or _pointers(X, X.shape[1], X.shape[0], "row")


def _one_number_each(X: Any) -> str:
    return "" if X.data.ndim == 1 else f"values of shape {X.data.shape}"


def _bsr(X: Any) -> str:
    (m, n), shape = X.shape, X.data.shape
    if len(shape) != 3 or 0 in shape[1:] or m % shape[1] or n % shape[2]:
        return f"blocks of shape {shape[1:]} in a matrix of shape {X.shape}"
    return _pointers(X, m // shape[1], n // shape[2], "block column")


def _coo(X: Any) -> str:
    lengths = {len(X.data), *map(len, X.coords)}
    if len(lengths) > 1 or len(X.coords) != 2:
        return f"{len(X.data)} values at {' and '.join(str(len(c)) for c in X.coords)} places"
    rows, columns = X.coords
    return _beyond(rows, X.shape[0], "row") or _beyond(columns, X.shape[1], "column")


def _dia(X: Any) -> str:
    if X.data.ndim != 2 or X.offsets.shape != (len(X.data),) or X.offsets.dtype.kind not in "iu":
        return f"{X.offsets.shape} offsets for diagonals of shape {X.data.shape}"
    twice = len(np.unique(X.offsets)) < len(X.offsets)
    return "a repeated offset" if twice else ""


def _lil(X: Any) -> str:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        return f"{len(X.rows)} rows of indices and {len(X.data)} of values, not {X.shape[0]}"
    for indices, values in zip(X.rows, X.data, strict=True):
        if len(indices) != len(values):
            return f"a row with {len(indices)} indices and {len(values)} values"
    return _beyond([i for indices in X.rows for i in indices], X.shape[1], "column")


def _dok(X: Any) -> str:
    places = list(X.keys())
    if any(len(place) != 2 for place in places):
        return "a key that is not a pair of row and column"
    rows, columns = [i for i, _ in places], [j for _, j in places]
    return _beyond(rows, X.shape[0], "row") or _beyond(columns, X.shape[1], "column")


_FAULTS: dict[str, Callable[[Any], str]] = {
    "csr": _csr,
    "csc": _csc,
    "bsr": _bsr,
    "coo": _coo,
    "dia": _dia,
    "lil": _lil,
    "dok": _dok,
}
"""What is wrong with a matrix of each format, in words, nothing where it is sound."""
