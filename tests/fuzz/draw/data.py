"""Data of many kinds: what the numbers are, and what they are stored in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .numbers import pick
from .stores import HOSTILE, STORES, spoiled, stored

KINDS = {
    "noisy": 8,
    "exact": 3,
    "uniform": 3,
    "many zeros": 3,
    "negative": 2,
    "all negative": 1,
    "zero row and column": 2,
    "twin columns": 2,
    "twin rows": 1,
    "constant": 1,
    "one outlier": 1,
    "zero": 0.5,
    "one entry": 0.5,
    "zero rows": 0.5,
}
ONLY_AT_ONE = ("float16", "integer", "bool", "small integer")
"""Stores that hold numbers near one alone."""
EXPONENTS = {0: 24, -12: 1, 12: 1, -24: 1, 24: 1, -96: 0.3, 96: 0.3, -198: 0.2, 198: 0.2}
"""Powers of two for the data's size; single precision has room for the first few alone."""


@dataclass(frozen=True, eq=False)
class Data:
    """What is handed over, and the numbers it stands for; `refused` where it is no data at all."""

    V: Any
    dense: np.ndarray
    text: str
    refused: bool = False

    @property
    def single(self):
        """Whether the numbers are in single precision."""
        return getattr(self.V, "dtype", None) == np.float32

    @property
    def stated_in_cvxpy(self):
        """Whether CVXPY takes the data as a constant."""
        V = self.V
        if not (type(V) is np.ndarray or sp.issparse(V)):
            return False
        plain = V.dtype in (np.float32, np.float64) and V.dtype.isnative
        return plain and (not sp.issparse(V) or V.format in ("csr", "csc"))


def draw_data(rng, model, unit, hostile=0.0):
    """Draw data near a model's values, about `unit` large; now and then no data at all."""
    kind = pick(rng, KINDS)
    numbers = _numbers(rng, kind, model, unit)
    store = pick(rng, STORES)
    if (store in ONLY_AT_ONE and unit != 1) or (store in ("float32",) and not _fits_single(unit)):
        store = "C"
    size = f", 2^{int(np.log2(unit))}" if unit != 1 else ""
    if rng.random() < hostile:
        wrong = pick(rng, HOSTILE)
        return Data(spoiled(rng, wrong, numbers), numbers, f"{wrong}{size}", refused=True)
    V = stored(rng, store, numbers, _fits_single(unit))
    dense = np.asarray(V.toarray() if sp.issparse(V) else V, dtype=np.float64)
    name = f"{V.dtype} {type(V).__name__}" if sp.issparse(V) else store
    return Data(V, dense, f"{kind}, {name}{size}")


def _fits_single(unit):
    return abs(np.log2(unit)) <= 30


def _numbers(rng, kind, model, unit):
    size = np.abs(model).max() or unit
    plain = {
        "exact": lambda: model.copy(),
        "uniform": lambda: size * rng.random(model.shape),
        "constant": lambda: np.full(model.shape, size),
        "zero": lambda: np.zeros(model.shape),
    }
    if kind in plain:
        return plain[kind]()
    V = model + 0.1 * size * rng.random(model.shape)
    i, j = (int(rng.integers(length)) for length in V.shape)
    if kind == "many zeros":
        V[rng.random(V.shape) < 0.6] = 0
    elif kind == "negative":
        V -= 0.3 * size * rng.random(V.shape)
    elif kind == "all negative":
        V = -np.abs(V)
    elif kind == "zero row and column":
        V[i], V[:, j] = 0, 0
    elif kind == "twin columns":
        V[:, -1] = V[:, 0]
    elif kind == "twin rows":
        V[-1] = V[0]
    elif kind == "one outlier":
        V[i, j] *= 1000
    elif kind == "one entry":
        V = np.where((np.arange(len(V))[:, None] == i) & (np.arange(V.shape[1]) == j), V, 0.0)
    elif kind == "zero rows":
        V[rng.random(len(V)) < 0.5] = 0
    return V
