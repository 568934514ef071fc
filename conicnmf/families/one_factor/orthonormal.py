"""Non-negative matrices with orthonormal columns: parts that do not overlap."""

from __future__ import annotations

import numpy as np

from conicnmf.types import Array


def separated(W: Array) -> Array:
    """Return W ≥ 0 with orthonormal columns: each row keeps its largest entry alone.

    Two non-negative columns are orthogonal exactly when they share no row. A column that wins no
    row becomes zero.

    Examples
    --------
    >>> separated(np.array([[3.0, 1.0], [4.0, 0.0], [1.0, 2.0]]))
    array([[0.6, 0. ],
           [0.8, 0. ],
           [0. , 1. ]])
    """
    size = np.linalg.norm(W, axis=0)
    # Columns are compared on one scale, else a large one would take every row.
    unit = W / np.where(size > 0, size, 1.0)
    kept = np.zeros_like(W)
    rows, winners = np.arange(len(W)), unit.argmax(axis=1)
    kept[rows, winners] = W[rows, winners]
    norms = np.linalg.norm(kept, axis=0)
    return np.asarray(kept / np.where(norms > 0, norms, 1.0))


def departure(W: Array) -> float:
    """Return the largest entry of |WᵀW − I|.

    Examples
    --------
    >>> departure(np.eye(3)[:, :2])
    0.0
    """
    return float(np.abs(W.T @ W - np.eye(W.shape[1])).max())
