"""Data of many kinds: what the numbers are, and what they are stored in."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

KINDS = {
    "noisy": 8,
    "exact": 3,
    "uniform": 3,
    "many zeros": 3,
    "negative": 2,
    "all negative": 1,
    "zero row and column": 2,
    "twin columns": 2,
    "constant": 1,
    "zero": 0.5,
}
STORES = {
    "C": 12,
    "Fortran": 1,
    "slice": 1,
    "read-only": 1,
    "memmap": 0.5,
    "DataFrame": 1,
    "float16": 0.7,
    "float32": 3,
    "integer": 1,
    "bool": 0.5,
    "sparse": 5,
}
FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


@dataclass(frozen=True, eq=False)
class Data:
    """What is handed over, and the numbers it stands for."""

    V: Any
    dense: np.ndarray
    text: str

    @property
    def single(self):
        """Whether the package will work in single precision."""
        return getattr(self.V, "dtype", None) == np.float32


def pick(rng, table):
    """Return a key of a table, drawn by its weights."""
    weights = np.array(list(table.values()), dtype=float)
    return list(table)[rng.choice(len(table), p=weights / weights.sum())]


def draw_data(rng, W, H, scale):
    """Draw data near W H (factors that are feasible), for the case's scale."""
    kind = pick(rng, KINDS)
    numbers = _numbers(rng, kind, W, H, scale)
    store = pick(rng, STORES)
    if store in ("float16", "integer", "bool") and scale != 1:
        store = "C"
    V = _stored(rng, store, numbers)
    dense = np.asarray(V.toarray() if sp.issparse(V) else V, dtype=np.float64)
    name = f"{V.dtype} {type(V).__name__}" if sp.issparse(V) else store
    size = f", size {scale:g}" if scale != 1 else ""
    return Data(V, dense, f"{kind}, {name}{size}")


def _numbers(rng, kind, W, H, scale):
    V = W @ H
    size = np.abs(V).max() or scale
    if kind == "exact":
        return V
    if kind == "uniform":
        return scale * rng.random(V.shape)
    if kind == "constant":
        return np.full(V.shape, scale)
    if kind == "zero":
        return np.zeros(V.shape)
    V = V + 0.1 * size * rng.random(V.shape)
    if kind == "many zeros":
        V[rng.random(V.shape) < 0.6] = 0
    elif kind == "negative":
        V -= 0.3 * size * rng.random(V.shape)
    elif kind == "all negative":
        V = -np.abs(V)
    elif kind == "zero row and column":
        V[rng.integers(V.shape[0])] = 0
        V[:, rng.integers(V.shape[1])] = 0
    elif kind == "twin columns":
        V[:, -1] = V[:, 0]
    return V


def _stored(rng, store, V):
    if store == "sparse":
        V = np.where(rng.random(V.shape) < 0.3, 0, V).astype(pick(rng, {"f8": 4, "f4": 1}))
        family = pick(rng, {"array": 1, "matrix": 1})
        return getattr(sp, f"{FORMATS[rng.integers(7)]}_{family}")(V)
    if store in ("float16", "float32"):
        return V.astype(store)
    if store == "integer":
        return np.round(9 * V).astype(np.int64)
    if store == "bool":
        return np.abs(V) > np.abs(V).mean()
    return {
        "Fortran": np.asfortranarray,
        "slice": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
        "read-only": _read_only,
        "memmap": _mapped,
        "DataFrame": pd.DataFrame,
    }.get(store, np.ascontiguousarray)(V)


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
