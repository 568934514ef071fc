"""Values that no setting takes, or hardly any."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.sparse as sp


class NoArray:
    """An object that fails in its own way to become an array."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("out of order")


class NoList:
    """An object that fails in its own way to be gone through."""

    def __iter__(self) -> Any:
        raise RuntimeError("out of order")


OUT_OF_RANGE = sp.csr_array(np.eye(3))
OUT_OF_RANGE.indices[0] = 7
JUNK: dict[str, Any] = {
    "word": "x",
    "none": None,
    "nan": np.nan,
    "inf": np.inf,
    "negative": -1,
    "fraction": 1.5,
    "list": [],
    "dict": {"a": 1},
    "object": object(),
    "class": int,
    "array": np.array([1, 2]),
    "strings": np.array(["a", "b"]),
    "objects": np.array([None, "a"], dtype=object),
    "empty": np.empty((0, 3)),
    "sparse": sp.csr_array(np.eye(2)),
    "true": True,
    "huge": 10**400,
    "large": 2**70,
    "matrix of keys": sp.dok_array(np.eye(2)),
    "complex": 1j,
    "expression": cp.Variable((2, 2)),
    "ragged": [[1, 2], [3]],
    "no dimension": np.array(2),
    "frame with names twice": pd.DataFrame(np.ones((6, 5)), columns=list("aaaaa")),
    "masked": np.ma.masked_array(np.ones((6, 5)), mask=np.eye(6, 5, dtype=bool)),
    "largest numbers": np.full((6, 5), 1e308),
    "least number": 5e-324,
    "nothing": "",
    "null": "a\0b",
    "folder": ".",
    "half a character": "\ud800",
    "long name": "x" * 5000,
    "out of range": OUT_OF_RANGE,
    "no array": NoArray(),
    "no list": NoList(),
    "several sparse": (sp.csr_array(np.eye(2)),) * 2,
    "wider than double": np.full((6, 5), np.longdouble(10) ** 4000),
    "wide and sparse": sp.csr_array(np.full((6, 5), np.longdouble(10) ** 4000)),
    "cube": np.ones((2, 2, 2)),
    "no numbers": np.full((6, 5), np.nan),
    "complex matrix": np.full((6, 5), 1j),
    "object matrix": np.full((6, 5), None),
    "other names": {"X": np.ones((6, 5))},
    "other shapes": {"W": np.ones((2, 2)), "H": np.ones((2, 2))},
    "numbered": {0: np.ones((6, 2)), 1: np.ones((2, 5))},
    "no factors": {"W": None, "H": "x"},
    "bytes": b"x",
    "set": {1, 2},
    "function": len,
    "generator": (n for n in ()),
}
