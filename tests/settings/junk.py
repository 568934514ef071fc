"""Values that no setting takes, or hardly any."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

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
    "complex": 1j,
    "expression": cp.Variable((2, 2)),
    "ragged": [[1, 2], [3]],
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
