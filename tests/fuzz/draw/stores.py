"""What numbers are stored in: arrays of every kind, and things that are no data."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .numbers import pick

STORES = {
    "C": 12,
    "Fortran": 1,
    "slice": 1,
    "reversed": 0.7,
    "read-only": 1,
    "memmap": 0.5,
    "DataFrame": 1,
    "nested lists": 0.5,
    "float16": 0.7,
    "float32": 3,
    "longdouble": 0.3,
    "big-endian": 0.5,
    "integer": 1,
    "small integer": 0.7,
    "bool": 0.5,
    "sparse": 5,
}
HOSTILE = {
    "masked": 3,
    "NaN": 2,
    "infinite": 1,
    "sparse NaN": 1,
    "complex": 1,
    "texts": 1,
    "ragged": 1,
    "one-dimensional": 1,
    "three-dimensional": 1,
    "no rows": 1,
    "no columns": 1,
    "None": 1,
    "a number": 1,
    "objects": 1,
    "dates": 0.5,
    "sparse complex": 0.5,
}
FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def stored(rng, store, V, single_fits=True):
    """Return numbers in a store."""
    if store == "sparse":
        return _sparse(rng, V, single_fits)
    if store in ("float16", "float32", "longdouble"):
        return V.astype(store)
    if store in ("integer", "small integer"):
        return np.round(9 * V).clip(-100, 100).astype(np.int64 if store == "integer" else np.int8)
    if store == "bool":
        return np.abs(V) > np.abs(V).mean()
    return {
        "Fortran": np.asfortranarray,
        "slice": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
        "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": _read_only,
        "memmap": _mapped,
        "DataFrame": lambda X: pd.DataFrame(X, index=[f"row {i}" for i in range(len(X))]),
        "nested lists": lambda X: X.tolist(),
        "big-endian": lambda X: X.astype(">f8"),
    }.get(store, np.ascontiguousarray)(V)


def _sparse(rng, V, single_fits):
    """Return a sparse array or matrix of any format, some with entries out of order or twice."""
    V = np.where(rng.random(V.shape) < 0.3, 0, V)
    V = V.astype(pick(rng, {"f8": 4, "f4": 1 if single_fits else 0}))
    family = pick(rng, {"array": 1, "matrix": 1})
    name = FORMATS[rng.integers(7)]
    odd = rng.random()
    made = getattr(sp, f"{name}_{family}")(V)
    if name == "coo" and odd < 0.5:
        i, j = made.row, made.col
        halves = np.concatenate([made.data / 2, made.data / 2])
        places = (np.concatenate([i, i]), np.concatenate([j, j]))
        return getattr(sp, f"coo_{family}")((halves, places), shape=V.shape)
    if name in ("csr", "csc") and odd < 0.5:
        made.data[::3] = 0  # zeros may be stored
        for k in range(len(made.indptr) - 1):
            part = slice(made.indptr[k], made.indptr[k + 1])
            made.indices[part], made.data[part] = made.indices[part][::-1], made.data[part][::-1]
        made.has_sorted_indices = False
    return made


def spoiled(rng, kind, V):
    """Return what must be refused."""
    wrong = V.copy()
    i, j = (int(rng.integers(length)) for length in V.shape)
    wrong[i, j] = {"NaN": np.nan, "sparse NaN": np.nan, "infinite": -np.inf}.get(kind, V[i, j])
    return {
        "masked": lambda: np.ma.masked_array(V, np.median(V) < V),
        "NaN": lambda: wrong,
        "infinite": lambda: wrong,
        "sparse NaN": lambda: sp.csc_array(wrong),
        "complex": lambda: V + 1j,
        "texts": lambda: V.astype(str),
        "ragged": lambda: [[1.0, 2.0], [3.0]],
        "one-dimensional": lambda: V[0],
        "three-dimensional": lambda: V[None],
        "no rows": lambda: V[:0],
        "no columns": lambda: V[:, :0],
        "None": lambda: None,
        "a number": lambda: 3.0,
        "objects": lambda: np.full(V.shape, None),
        "dates": lambda: np.zeros(V.shape, dtype="datetime64[s]"),
        "sparse complex": lambda: sp.csr_array(V + 1j),
    }[kind]()


def _read_only(V):
    V = V.copy()
    V.flags.writeable = False
    return V


def _mapped(V):
    handle, name = tempfile.mkstemp(suffix=".npy")
    os.close(handle)
    np.save(name, V)
    mapped = np.load(name, mmap_mode="r")
    os.unlink(name)  # the map keeps the file until it is dropped
    return mapped
