"""Cholesky factor UᵀU of a principal block of a Gram matrix that grows and shrinks.

With P the listed atoms, in order of entry, the first k rows of U hold the factor of G[P, P] and
z = U⁻ᵀ c[P], so U s = z gives the least-squares coefficients. Rows of U are contiguous and the
inner loops run along them.
"""

from __future__ import annotations

import numpy as np

from conicnmf.kernels._jit import jit


@jit
def push(U, z, atoms, k, G, c, j, v, floor):  # type: ignore[no-untyped-def]
    """Append atom j in O(k²) and return its squared distance to the span of the others.

    A distance below `floor` is rounding: it is raised to the floor, which keeps the factor
    regular, and the caller's refinement makes good the difference. v is scratch.
    """
    for i in range(k):
        v[i] = G[j, atoms[i]]
    distance = G[j, j]
    rest = c[j]
    for i in range(k):
        a = v[i] / U[i, i]
        U[i, k] = a
        distance -= a * a
        rest -= a * z[i]
        for l in range(i + 1, k):
            v[l] -= a * U[i, l]
    root = np.sqrt(max(distance, floor))
    U[k, k] = root
    z[k] = rest / root
    atoms[k] = j
    return distance


@jit
def remove(U, z, atoms, k, q):  # type: ignore[no-untyped-def]
    """Take out the atom at place q in O((k − q)²) by plane rotations of neighbouring rows."""
    for i in range(q):
        for l in range(q, k - 1):
            U[i, l] = U[i, l + 1]
    for i in range(q, k - 1):
        atoms[i] = atoms[i + 1]
        a, b = U[i, i + 1], U[i + 1, i + 1]
        h = np.sqrt(a * a + b * b)
        cosine, sine = a / h, b / h
        U[i, i] = h
        for l in range(i + 1, k - 1):
            upper, lower = U[i, l + 1], U[i + 1, l + 1]
            U[i, l] = cosine * upper + sine * lower
            U[i + 1, l + 1] = cosine * lower - sine * upper
        upper, lower = z[i], z[i + 1]
        z[i] = cosine * upper + sine * lower
        z[i + 1] = cosine * lower - sine * upper


@jit
def solve(U, z, k, s):  # type: ignore[no-untyped-def]
    """Write the solution of U s = z."""
    for i in range(k - 1, -1, -1):
        # Four independent sums: the compiler may not reorder one sum by itself.
        s0, s1, s2, s3 = z[i], 0.0, 0.0, 0.0
        l = i + 1
        while l + 4 <= k:
            s0 -= U[i, l] * s[l]
            s1 -= U[i, l + 1] * s[l + 1]
            s2 -= U[i, l + 2] * s[l + 2]
            s3 -= U[i, l + 3] * s[l + 3]
            l += 4
        while l < k:
            s0 -= U[i, l] * s[l]
            l += 1
        s[i] = ((s0 + s1) + (s2 + s3)) / U[i, i]


@jit
def add_forward(U, v, k, z):  # type: ignore[no-untyped-def]
    """Add U⁻ᵀ v to z; v is overwritten."""
    for i in range(k):
        a = v[i] / U[i, i]
        z[i] += a
        for l in range(i + 1, k):
            v[l] -= a * U[i, l]


@jit
def invert(U, k, T, A):  # type: ignore[no-untyped-def]
    """Write A = (UᵀU)⁻¹, with T = U⁻ᵀ as scratch: A is the sum of the rows' outer products."""
    for i in range(k):
        for l in range(k):
            T[i, l] = 0.0
            A[i, l] = 0.0
        T[i, i] = 1.0
        for h in range(i):
            for l in range(h + 1):
                T[i, l] -= U[h, i] * T[h, l]
        for l in range(i + 1):
            T[i, l] /= U[i, i]
    for h in range(k):
        for i in range(h + 1):
            for l in range(h + 1):
                A[i, l] += T[h, i] * T[h, l]
