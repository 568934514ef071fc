"""Least-squares blocks for the column kernels: tame ones, and ones that break careless code."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

SCALES = st.sampled_from([1.0, 1e-150, 1e150, 1e-3])

_entries = st.one_of(
    st.integers(-2, 3).map(float),
    st.floats(0, 1).map(lambda x: round(x, 3)),
    st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1e-9]),
)


def gram(A, Y):
    """G, C and the squared norms: all that the kernels see of a block."""
    return A.T @ A, A.T @ Y, (Y * Y).sum(axis=0)


def random_block(m, r, n, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    A = rng.random((m, r)) * (rng.random((m, r)) < density)
    A[rng.integers(m, size=r), np.arange(r)] += 0.1
    return A / np.linalg.norm(A, axis=0), rng.random((m, n))


@st.composite
def hostile_blocks(draw, max_rows=5, max_atoms=6, max_columns=3):
    """Small A and Y with zeros, ties, equal and dependent atoms and signs."""
    m, n = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    r = draw(st.integers(1, max_atoms))

    def matrix(rows, columns):
        size = rows * columns
        values = draw(st.lists(_entries, min_size=size, max_size=size))
        return np.array(values).reshape(rows, columns)

    A, Y = matrix(m, r), matrix(m, n)
    if r > 1 and draw(st.booleans()):
        A[:, -1] = draw(st.sampled_from([0.0, 1.0, 3.0, -1.0])) * A[:, 0]
    return A, Y
