"""What every row kernel shares: how rows come in, and how they are scaled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.geometry.compilers import inner, jit
from conicnmf.types import Array

BLOCK = 512  # sums in blocks lose fewer digits
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_rows(X: ArrayLike, like: Array | None = None) -> Array:
    """Return X as a C-contiguous, writeable float array, copied only where it must be.

    A read-only array is another type to the compiler: the copy is cheaper than compiling again.

    Examples
    --------
    >>> as_rows([[1, 2]]).dtype, as_rows(np.ones((1, 2), dtype=np.float32)).dtype
    (dtype('float64'), dtype('float32'))
    """
    array = np.asarray(X)
    if like is None and array.dtype in _FLOATS:
        flags = array.flags
        if flags.c_contiguous and flags.writeable:
            return array
    dtype: Any = array.dtype if like is None else like.dtype
    if like is not None and array.shape != like.shape:
        array = np.broadcast_to(array, like.shape)  # kernels read without checking bounds
    if dtype not in _FLOATS:
        dtype = np.float64
    return np.require(array, dtype=dtype, requirements=["C", "W"])


def per_row(value: ArrayLike, rows: int) -> NDArray[np.float64]:
    """Return one float for each row, from a scalar or one value per row.

    Examples
    --------
    >>> per_row(2, 3)
    array([2., 2., 2.])
    """
    out = np.empty(rows)
    out[:] = value
    return out


def next_to_nothing(dtype: np.dtype[Any]) -> float:
    """Return the size of a row below which no shorter one is made in place of zero.

    Far below, numbers have too few digits for sparseness, and change of units makes zeros of them.

    Examples
    --------
    >>> bool(next_to_nothing(np.dtype(np.float64)) ** 2 == np.finfo(float).tiny)
    True
    """
    return math.sqrt(float(np.finfo(dtype).tiny))


def at_size_one(X: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows, each times a power of two that brings its largest entry near one, and these.

    Examples
    --------
    >>> at_size_one(np.array([[3.0, -4.0]]))
    (array([[ 0.375, -0.5  ]]), array([0.125]))
    """
    _, exponents = np.frexp(np.abs(X).max(axis=1, initial=0.0))
    inverse = np.ldexp(1.0, np.minimum(-exponents, 1022))
    return X * inverse[:, None], inverse


@inner
def inverse_power(size: float) -> float:
    """Return a power of two near 1/size: scaling by it is exact, and never overflows."""
    _, exponent = math.frexp(size)
    return math.ldexp(1.0, min(-exponent, 1022))


@inner
def largest(a: Array) -> float:
    """Return max|aᵢ|."""
    size = 0.0
    for x in a:
        if abs(x) > size:
            size = float(abs(x))
    return size


@inner
def peak(a: Array) -> float:
    """Return max aᵢ."""
    top = -np.inf
    for x in a:
        if x > top:
            top = float(x)
    return top


@jit
def norms(a: Array, factor: float) -> tuple[float, float]:
    """Return ‖a‖₁ and ‖a‖₂ of factor·a, summed in double precision."""
    total, squares = 0.0, 0.0
    for start in range(0, a.size, BLOCK):
        t, s = 0.0, 0.0
        for i in range(start, min(start + BLOCK, a.size)):
            y = abs(a[i]) * factor
            t += y
            s += y * y
        total += t
        squares += s
    return total, math.sqrt(squares)


@inner
def dot(a: Array, b: Array) -> float:
    """Return ⟨a,b⟩, summed in double precision."""
    total = 0.0
    for start in range(0, a.size, BLOCK):
        part = 0.0
        for i in range(start, min(start + BLOCK, a.size)):
            part += np.float64(a[i]) * b[i]  # float() of a single is no double to the compiler
        total += part
    return total


@inner
def scaled(a: Array, factor: float) -> NDArray[np.float64]:
    """Return factor·a in double precision, cut off where squares would overflow."""
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = min(max(a[i] * factor, -1e120), 1e120)
    return out
