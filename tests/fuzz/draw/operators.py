"""Symmetric matrices for problems with one factor: what they are, and what they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from conicnmf.families.one_factor import LowRank

from .numbers import pick

KINDS = {
    "covariance": 6,
    "indefinite": 4,
    "negative definite": 2,
    "rank one": 3,
    "non-negative": 3,
    "diagonal": 1,
    "identity": 1,
    "singular": 2,
    "negative entries": 1,
    "zero": 0.5,
}
STORES = {"array": 8, "sparse": 2, "operator": 2, "low rank": 2, "float32": 1, "integer": 1}
STORES |= {"DataFrame": 0.5, "Fortran": 0.5}
HOSTILE = ("not symmetric", "NaN", "not square", "masked", "complex", "texts")


@dataclass(frozen=True, eq=False)
class Matrix:
    """What is handed over, and the matrix it stands for."""

    given: Any
    dense: np.ndarray
    text: str
    refused: bool = False

    @property
    def semidefinite(self):
        """Whether no eigenvalue is negative."""
        values = np.linalg.eigvalsh(self.dense)
        return bool(values[0] >= -1e-10 * max(abs(values[0]), abs(values[-1])))


def draw_matrix(rng, m, unit=1.0, kinds=KINDS, hostile=0.0):
    """Draw a symmetric matrix."""
    if rng.random() < hostile:
        return _spoiled(rng, m)
    kind, store = pick(rng, kinds), pick(rng, STORES)
    G = _root(rng, kind, m)
    dense = _numbers(rng, kind, m, G)
    if (store == "low rank" and G is None) or (store == "float32" and abs(np.log2(unit)) > 30):
        store = "array"
    if store == "integer":
        dense = np.round(4 * dense)
    if store == "float32":
        dense = dense.astype(np.float32).astype(float)
    dense = unit**2 * dense
    given = {
        "sparse": lambda: sp.csr_array(dense) if rng.random() < 0.5 else sp.csc_matrix(dense),
        "operator": lambda: aslinearoperator(dense),
        "low rank": lambda: LowRank(unit * G),
        "float32": lambda: dense.astype(np.float32),
        "integer": lambda: dense.astype(int) if unit == 1 else dense,
        "DataFrame": lambda: pd.DataFrame(dense),
        "Fortran": lambda: np.asfortranarray(dense),
    }.get(store, dense.copy)()
    return Matrix(given, dense, f"{kind}, {store}")


def _root(rng, kind, m):
    """Return G where the matrix is G Gᵀ."""
    columns = {"covariance": m + 3, "rank one": 1, "singular": max(1, m // 2)}.get(kind)
    return None if columns is None else rng.standard_normal((m, columns)) / np.sqrt(columns)


def _numbers(rng, kind, m, G):
    if G is not None:
        return G @ G.T
    X = rng.standard_normal((m, m))
    X = (X + X.T) / 2
    return {
        "indefinite": lambda: X,
        "negative definite": lambda: -(X @ X + 0.1 * np.eye(m)),
        "non-negative": lambda: np.abs(X),
        "diagonal": lambda: np.diag(rng.standard_normal(m)),
        "identity": lambda: np.eye(m),
        "negative entries": lambda: -np.abs(X),
        "zero": lambda: np.zeros((m, m)),
    }[kind]()


def _spoiled(rng, m):
    kind = HOSTILE[rng.integers(len(HOSTILE))]
    A = np.eye(m + 1)
    wrong = A.copy()
    wrong[0, -1] = np.nan if kind == "NaN" else 1.0
    given = {
        "not symmetric": wrong,
        "NaN": wrong,
        "not square": A[:-1],
        "masked": np.ma.masked_array(A, A > 0),
        "complex": A + 1j,
        "texts": A.astype(str),
    }[kind]
    return Matrix(given, A, kind, refused=True)
