"""Rows that break careless kernels: ties, zeros, one sign only, one entry, near ties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

SCALES = st.sampled_from([1.0, 2.0**-664, 2.0**664, 2.0**40])  # 2^±664 is about 1e±200
LEVELS = st.floats(0.0, 1.0).map(lambda s: round(s, 3))

_entries = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-1, 1).map(lambda x: round(x, 4)),
    st.sampled_from([1.0, 1.0 - 2.0**-50, 1.0 - 1e-9, 0.0, -1e-12, 1e-12]),
)


def rows(min_size: int = 1, max_size: int = 9) -> st.SearchStrategy[np.ndarray]:
    return st.lists(_entries, min_size=min_size, max_size=max_size).map(np.array)


@st.composite
def bands(draw: st.DrawFn) -> tuple[float, float]:
    low, high = sorted((draw(LEVELS), draw(LEVELS)))
    return draw(st.sampled_from([(low, high), (low, low), (0.0, high), (low, 1.0), (1.0, 1.0)]))


@st.composite
def pairs(draw: st.DrawFn, max_size: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """A row and the normal of a plane, without entries too small for a cone solver to see."""
    n = draw(st.integers(1, max_size))
    return draw(rows(n, n)), draw(rows(n, n)).round(4)
