"""Cholesky factor UᵀU of a principal block of a Gram matrix that grows and shrinks.

With P the listed atoms, in order of entry, the first k rows of U hold the factor of G[P, P] and
z = U⁻ᵀ c[P], so U s = z gives the least-squares coefficients. Rows of U are contiguous and the
inner loops run along them. The diagonal holds reciprocals, because divisions are what short
substitutions would wait for.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from conicnmf.geometry.compilers import inner, jit
from conicnmf.types import Array

Places: TypeAlias = NDArray[np.int64]

_LONG = 20


@jit
def forward(U: Array, v: Array, k: int, z: Array) -> tuple[float, float]:
    """Overwrite v by U⁻ᵀ v and return ‖v‖² and ⟨v, z⟩.

    Four rows are taken at a time while their loops are long enough to be worth starting.
    """
    i = 0
    squares, product = 0.0, 0.0
    while i + _LONG <= k:
        a = v[i] * U[i, i]
        b = (v[i + 1] - a * U[i, i + 1]) * U[i + 1, i + 1]
        c = (v[i + 2] - a * U[i, i + 2] - b * U[i + 1, i + 2]) * U[i + 2, i + 2]
        d = v[i + 3] - a * U[i, i + 3] - b * U[i + 1, i + 3] - c * U[i + 2, i + 3]
        d *= U[i + 3, i + 3]
        v[i], v[i + 1], v[i + 2], v[i + 3] = a, b, c, d
        squares += (a * a + b * b) + (c * c + d * d)
        product += (a * z[i] + b * z[i + 1]) + (c * z[i + 2] + d * z[i + 3])
        for t in range(i + 4, k):
            v[t] -= (a * U[i, t] + b * U[i + 1, t]) + (c * U[i + 2, t] + d * U[i + 3, t])
        i += 4
    while i < k:
        a = v[i] * U[i, i]
        v[i] = a
        squares += a * a
        product += a * z[i]
        for t in range(i + 1, k):
            v[t] -= a * U[i, t]
        i += 1
    return squares, product


@jit
def push(
    U: Array, z: Array, atoms: Places, k: int, G: Array, c: Array, j: int, v: Array, floor: float
) -> float:
    """Append atom j in O(k²) and return its squared distance to the span of the others.

    A distance below `floor` is rounding: it is raised to the floor, which keeps the factor
    regular, and the caller's refinement makes good the difference. v is scratch.
    """
    for i in range(k):
        v[i] = G[j, atoms[i]]
    squares, product = forward(U, v, k, z)
    for i in range(k):
        U[i, k] = v[i]
    distance: float = G[j, j] - squares
    U[k, k] = 1 / math.sqrt(max(distance, floor))
    z[k] = (c[j] - product) * U[k, k]
    atoms[k] = j
    return distance


@inner
def remove(U: Array, z: Array, atoms: Places, k: int, q: int) -> None:
    """Take out the atom at place q in O((k − q)²) by plane rotations of neighboring rows."""
    for i in range(q):
        for t in range(q, k - 1):
            U[i, t] = U[i, t + 1]
    for i in range(q, k - 1):
        atoms[i] = atoms[i + 1]
        a, b = U[i, i + 1], 1 / U[i + 1, i + 1]
        inverse = 1 / math.sqrt(a * a + b * b)
        cosine, sine = a * inverse, b * inverse
        U[i, i] = inverse
        for t in range(i + 1, k - 1):
            upper, lower = U[i, t + 1], U[i + 1, t + 1]
            U[i, t] = cosine * upper + sine * lower
            U[i + 1, t + 1] = cosine * lower - sine * upper
        upper, lower = z[i], z[i + 1]
        z[i] = cosine * upper + sine * lower
        z[i + 1] = cosine * lower - sine * upper


@jit
def solve(U: Array, z: Array, k: int, s: Array) -> None:
    """Write the solution of U s = z, four rows at a time."""
    i = k - 1
    while i >= 3:
        a, b, c, d = z[i], z[i - 1], z[i - 2], z[i - 3]
        for t in range(i + 1, k):
            known = s[t]
            a -= U[i, t] * known
            b -= U[i - 1, t] * known
            c -= U[i - 2, t] * known
            d -= U[i - 3, t] * known
        a *= U[i, i]
        b = (b - U[i - 1, i] * a) * U[i - 1, i - 1]
        c = (c - U[i - 2, i] * a - U[i - 2, i - 1] * b) * U[i - 2, i - 2]
        d = d - U[i - 3, i] * a - U[i - 3, i - 1] * b - U[i - 3, i - 2] * c
        s[i], s[i - 1], s[i - 2], s[i - 3] = a, b, c, d * U[i - 3, i - 3]
        i -= 4
    while i >= 0:
        a = z[i]
        for t in range(i + 1, k):
            a -= U[i, t] * s[t]
        s[i] = a * U[i, i]
        i -= 1


@jit
def invert(U: Array, k: int, T: Array, A: Array) -> None:
    """Write A = (UᵀU)⁻¹ = TᵀT, with the lower triangle T = U⁻ᵀ as scratch."""
    for i in range(k):
        T[i, :k] = 0.0
        h = 0
        while h + 4 <= i:
            a, b, c, d = U[h, i], U[h + 1, i], U[h + 2, i], U[h + 3, i]
            for t in range(h + 4):
                T[i, t] -= (a * T[h, t] + b * T[h + 1, t]) + (c * T[h + 2, t] + d * T[h + 3, t])
            h += 4
        while h < i:
            a = U[h, i]
            for t in range(h + 1):
                T[i, t] -= a * T[h, t]
            h += 1
        for t in range(i):
            T[i, t] *= U[i, i]
        T[i, i] = U[i, i]
    for i in range(k):
        A[i, : i + 1] = 0.0
        h = i
        while h + 4 <= k:
            a, b, c, d = T[h, i], T[h + 1, i], T[h + 2, i], T[h + 3, i]
            for t in range(i + 1):
                A[i, t] += (a * T[h, t] + b * T[h + 1, t]) + (c * T[h + 2, t] + d * T[h + 3, t])
            h += 4
        while h < k:
            a = T[h, i]
            for t in range(i + 1):
                A[i, t] += a * T[h, t]
            h += 1
        for t in range(i):
            A[t, i] = A[i, t]
