"""Block-coordinate descent over components with exact projections on their constraints.

In one component with the others fixed the quadratic is a multiple of ‖b − target‖², so its
constrained minimum is a projection. For convex sets the sweeps converge to the block's minimum.
"""

from __future__ import annotations

import numpy as np

from conicnmf._types import Array, Mask
from conicnmf.kernels._jit import jit
from conicnmf.kernels.balls import near_row
from conicnmf.kernels.band import band_row
from conicnmf.kernels.planes import plane_cone_row

HELD, NEAR = 1, 2  # how a row is constrained beyond the orthant and the cone


@jit
def _target(G: Array, C: Array, B: Array, j: int, x: Array) -> None:
    """Write the unconstrained minimizer over row j to x."""
    for i in range(x.size):
        x[i] = C[j, i]
    for k in range(B.shape[0]):
        g = G[j, k]
        if k != j and g != 0:
            for i in range(x.size):
                x[i] -= g * B[k, i]
    for i in range(x.size):
        x[i] /= G[j, j]


@jit
def _project(
    x: Array, kind: int, t: Array, radius: float, s_max: float, out: Array, u: Array
) -> None:
    """Project x on the orthant and the cone, and on the half-space or ball of its row."""
    if kind == HELD:
        plane_cone_row(x, t, s_max, out)
    elif kind == NEAR:
        near_row(x, t, radius, s_max, out, u)
    elif s_max < 1:
        band_row(x, 0.0, s_max, out, u)
    else:
        for i in range(x.size):
            out[i] = max(x[i], 0.0)


@jit
def _descend(
    G: Array,
    C: Array,
    B: Array,
    kinds: Array,
    T: Array,
    radii: Array,
    s_max: float,
    sweeps: int,
    rtol: float,
) -> int:
    """Sweep over the rows of B in place until a sweep moves less than `rtol` of their size."""
    r, n = B.shape
    x, out, u = np.empty(n, B.dtype), np.empty(n, B.dtype), np.empty(n, B.dtype)
    for sweep in range(sweeps):
        moved, size = 0.0, 0.0
        for j in range(r):
            if G[j, j] <= 0:
                continue
            _target(G, C, B, j, x)
            _project(x, kinds[j], T[j], radii[j], s_max, out, u)
            for i in range(n):
                change = out[i] - B[j, i]
                moved += G[j, j] * change * change
                size += G[j, j] * out[i] * out[i]
                B[j, i] = out[i]
        if moved <= rtol * rtol * size:
            return sweep + 1
    return sweeps


def descend_held(
    G: Array,
    C: Array,
    B: Array,
    T: Array,
    held: Mask,
    s_max: float,
    sweeps: int = 2000,
    rtol: float = 1e-8,
) -> tuple[Array, int]:
    """Minimize ½⟨B, G B⟩ − ⟨C, B⟩ over rows b ≥ 0 of sparseness at most s_max.

    Rows where `held` is true also keep ⟨t, b⟩ ≥ 0 for the row t of T.

    Returns
    -------
    B : array
    sweeps : int
        How many sweeps were made; the limit when they did not settle to `rtol`.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[3.0, 1.0]])
    >>> B, _ = descend_held(np.eye(1), C, C, np.array([[-1.0, 1.0]]), np.array([True]), 1.0)
    >>> B
    array([[2., 2.]])
    """
    kinds = np.where(held, HELD, 0)
    return _run(G, C, B, kinds, T, np.zeros(len(B)), s_max, sweeps, rtol)


def descend_near(
    G: Array,
    C: Array,
    B: Array,
    radii: Array,
    s_max: float,
    sweeps: int = 200,
    rtol: float = 1e-6,
) -> tuple[Array, int]:
    """Minimize the same quadratic over rows within `radii` of the rows of B, where it starts.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[3.0, 0.0]])
    >>> descend_near(np.eye(1), C, np.array([[1.0, 0.0]]), np.array([0.5]), 1.0)[0]
    array([[1.5, 0. ]])
    """
    kinds = np.full(len(B), NEAR)
    return _run(G, C, B, kinds, B, radii, s_max, sweeps, rtol)


def _run(
    G: Array,
    C: Array,
    B: Array,
    kinds: Array,
    T: Array,
    radii: Array,
    s_max: float,
    sweeps: int,
    rtol: float,
) -> tuple[Array, int]:
    dtype = np.result_type(B, G, C)
    out = np.array(B, dtype=dtype, order="C")
    G, C, T = (np.ascontiguousarray(X, dtype=dtype) for X in (G, C, T))
    made = _descend(G, C, out, kinds, T, np.asarray(radii, float), s_max, sweeps, rtol)
    return out, int(made)
