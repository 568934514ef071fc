"""Block-coordinate descent over components with exact projections on their constraints.

In one component with the others fixed the quadratic is a multiple of ‖b − target‖², so its
constrained minimum is a projection. For convex sets the sweeps converge to the block's minimum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.geometry.balls import near_row
from conicnmf.geometry.band import band_row
from conicnmf.geometry.compilers import inlined, jit
from conicnmf.geometry.planes import plane_cone_row
from conicnmf.geometry.rows import per_row
from conicnmf.types import Array, Mask

BAND, HELD, NEAR = 0, 1, 2  # beyond the orthant: a band, a cone and a half-space, a cone and a ball


@inlined
def _target(G: Array, C: Array, B: Array, j: int, x: Array) -> None:
    """Write the unconstrained minimizer over row j to x; an empty G stands for the identity."""
    for i in range(x.size):
        x[i] = C[j, i]
    for k in range(G.shape[0]):
        g = G[j, k]
        if k != j and g != 0:
            for i in range(x.size):
                x[i] -= g * B[k, i]
    if G.size > 0:
        for i in range(x.size):
            x[i] /= G[j, j]


@inlined
def _project(
    x: Array, kind: int, t: Array, radius: float, s_min: float, s_max: float, out: Array, u: Array
) -> None:
    """Project x on the set of its row: a half-space and a ball replace the lower bound."""
    if kind == HELD:
        plane_cone_row(x, t, s_max, out)
    elif kind == NEAR:
        near_row(x, t, radius, s_max, out, u)
    elif s_min > 0 or s_max < 1:
        band_row(x, s_min, s_max, out, u)
    else:
        for i in range(x.size):
            out[i] = max(x[i], 0.0)


@jit
def _descend(
    G: Array,
    C: Array,
    B: Array,
    kinds: NDArray[np.int64],
    T: Array,
    radii: Array,
    s_min: Array,
    s_max: Array,
    sweeps: int,
    rtol: float,
) -> int:
    """Sweep over the rows of B in place until a sweep moves less than `rtol` of their size."""
    r, n = B.shape
    scratch = np.empty((3, n), B.dtype)
    x, out, u = scratch[0], scratch[1], scratch[2]
    for sweep in range(sweeps):
        moved, size = 0.0, 0.0
        for j in range(r):
            curvature = float(G[j, j]) if G.size > 0 else 1.0
            if curvature <= 0:
                # Of a zero atom only the price of its row is left: the shorter it is the better.
                if kinds[j] != NEAR and C[j].min() < 0:
                    for i in range(n):
                        B[j, i] = B[j, i] / 10 if s_min[j] > 0 else 0.0
                continue
            _target(G, C, B, j, x)
            _project(x, kinds[j], T[j], radii[j], s_min[j], s_max[j], out, u)
            change, total = 0.0, 0.0
            for i in range(n):
                step, new = float(out[i] - B[j, i]), float(out[i])
                change += step * step
                total += new * new
            # Zero is no member of a band: the shorter row is, and f is not higher there.
            dies = total == 0 and s_min[j] > 0
            for i in range(n):
                B[j, i] = B[j, i] / 10 if dies else out[i]
            moved += curvature * change
            size += curvature * total
        if moved <= rtol * rtol * size:
            return sweep + 1
    return sweeps


def descend_held(
    G: Array,
    C: Array,
    B: Array,
    T: Array,
    held: Mask,
    s_max: ArrayLike,
    sweeps: int = 2000,
    rtol: float = 1e-8,
) -> tuple[Array, int]:
    """Minimize ½⟨B, G B⟩ − ⟨C, B⟩ over rows b ≥ 0 of sparseness at most s_max, one or one for each.

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
    kinds = np.where(held, HELD, BAND)
    return _run(G, C, B, (kinds, T, np.zeros(len(B)), 0.0, s_max), sweeps, rtol)


def descend_near(
    G: Array,
    C: Array,
    B: Array,
    radii: Array,
    s_max: ArrayLike,
    sweeps: int = 200,
    rtol: float = 1e-6,
    start: Array | None = None,
) -> tuple[Array, int]:
    """Minimize the same quadratic over rows within `radii` of the rows of B, from there or `start`.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[3.0, 0.0]])
    >>> descend_near(np.eye(1), C, np.array([[1.0, 0.0]]), np.array([0.5]), 1.0)[0]
    array([[1.5, 0. ]])
    """
    kinds = np.full(len(B), NEAR)
    begin = B if start is None else start
    return _run(G, C, begin, (kinds, B, radii, 0.0, s_max), sweeps, rtol)


def descend_band(
    G: Array,
    C: Array,
    B: Array,
    s_min: ArrayLike,
    s_max: ArrayLike,
    sweeps: int,
    rtol: float = 0.0,
) -> Array:
    """Lower the same quadratic over rows of a sparseness band, s_min ≤ sp(b) ≤ s_max.

    There is one band for all rows, or one for each. A row whose best point in the band is
    zero is only made ten times shorter.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[3.0, 4.0]])
    >>> descend_band(np.eye(1), C, C, 1.0, 1.0, sweeps=1)
    array([[0., 4.]])
    """
    kinds = np.full(len(B), BAND)
    return _run(G, C, B, (kinds, B, np.zeros(len(B)), s_min, s_max), sweeps, rtol)[0]


def project_pieces(X: Array, kind: int, T: Array, radii: Array, s_max: ArrayLike) -> Array:
    """Project each row on the set of its kind, for `intersections`.

    Examples
    --------
    >>> import numpy as np
    >>> X, T = np.array([[3.0, 1.0]]), np.array([[-1.0, 1.0]])
    >>> project_pieces(X, HELD, T, np.zeros(1), 1.0)
    array([[2., 2.]])
    """
    sets = (np.full(len(X), kind), T, radii, 0.0, s_max)
    return _run(np.empty((0, 0), X.dtype), X, np.zeros_like(X), sets, 1, 0.0)[0]


def _run(
    G: Array,
    C: Array,
    B: Array,
    sets: tuple[Array, Array, Array, ArrayLike, ArrayLike],
    sweeps: int,
    rtol: float,
) -> tuple[Array, int]:
    """Sweep from B over sets given as kinds, T, radii, s_min and s_max."""
    kinds, T, radii, s_min, s_max = sets
    dtype = np.result_type(B, G, C)
    out = np.array(B, dtype=dtype, order="C")
    G, C, T = (np.require(X, dtype=dtype, requirements=["C", "W"]) for X in (G, C, T))
    radii = np.require(radii, dtype=np.float64, requirements=["C", "W"])
    bounds = per_row(s_min, len(out)), per_row(s_max, len(out))
    return out, int(_descend(G, C, out, kinds, T, radii, *bounds, int(sweeps), float(rtol)))
