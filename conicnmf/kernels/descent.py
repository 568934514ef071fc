"""Block-coordinate descent over components with exact projections on their constraints.

In one component with the others fixed the quadratic is a multiple of ‖b − target‖², so its
constrained minimum is a projection. For convex sets the sweeps converge to the block's minimum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.balls import near_row
from conicnmf.geometry.band import band_row
from conicnmf.geometry.compilers import inlined, jit
from conicnmf.geometry.planes import plane_cone_row, plane_row
from conicnmf.geometry.rows import largest, next_to_nothing, per_row
from conicnmf.types import Array, Mask


class Sets(NamedTuple):
    """Where rows must lie, all of them non-negative and in a band of sparseness.

    Those held keep ⟨t, b⟩ ≥ 0 for their row t of T; with radii, all stay that near to their centers.
    """

    held: Mask | None = None
    T: Array | None = None
    centers: Array | None = None
    radii: Array | None = None
    s_min: ArrayLike = 0.0
    s_max: ArrayLike = 1.0

    def compiled(self, rows: int, dtype: np.dtype[Any]) -> tuple[Any, ...]:
        """Return what the kernel takes: None for all that does not bind."""
        T, centers = (
            X if X is None else np.require(X, dtype=dtype, requirements=["C", "W"])
            for X in (self.T, self.centers)
        )
        radii = None if self.radii is None else per_row(self.radii, rows)
        held = None if self.held is None else np.array(self.held, dtype=np.bool_)
        band = np.empty((2, rows))
        band[0], band[1] = self.s_min, self.s_max
        binds = band[0].max(initial=0.0) > 0 or band[1].min(initial=1.0) < 1
        return held, T, centers, radii, band if binds else None


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
def _tenth(B: Array, j: int, shortest: float) -> None:
    """Make a row ten times shorter, unless it would have too few digits then for a band."""
    if largest(B[j]) < shortest:
        return
    for i in range(B.shape[1]):
        B[j, i] = B[j, i] / 10


@inlined
def _shorten(C: Array, B: Array, j: int, keeps: bool, shortest: float) -> None:
    """Of a zero atom only the price of its row is left: the shorter the row is the better."""
    costs = False
    for i in range(C.shape[1]):
        costs = costs or C[j, i] < 0
    if costs and keeps:
        _tenth(B, j, shortest)
    elif costs:
        for i in range(C.shape[1]):
            B[j, i] = 0.0


@inlined
def _replace(B: Array, j: int, new: Array, keeps: bool, shortest: float) -> tuple[float, float]:
    """Write a new row j; return the squares of its change and of its length."""
    change, total = 0.0, 0.0
    for i in range(new.size):
        step, entry = float(new[i] - B[j, i]), float(new[i])
        change += step * step
        total += entry * entry
    # Zero is no member of a band: the shorter row is, and f is not higher there.
    if total == 0 and keeps:
        _tenth(B, j, shortest)
        return change, total
    for i in range(new.size):
        B[j, i] = new[i]
    return change, total


@jit
def _descend(
    G: Array,
    C: Array,
    B: Array,
    held: Any,
    T: Any,
    centers: Any,
    radii: Any,
    band: Any,
    sweeps: int,
    rtol: float,
    shortest: float,
) -> int:
    """Sweep over the rows of B in place until a sweep moves less than `rtol` of their size.

    The sets are those of `Sets`. What is None is pruned before anything is compiled, so that a first
    use pays for its own kind of set only.
    """
    r, n = B.shape
    x, out, u = np.empty(n, B.dtype), np.empty(n, B.dtype), np.empty(n, B.dtype)
    for sweep in range(sweeps):
        moved, size = 0.0, 0.0
        for j in range(r):
            curvature = float(G[j, j]) if G.size > 0 else 1.0
            s_min, s_max = 0.0, 1.0
            if band is not None:
                s_min, s_max = band[0, j], band[1, j]
            if curvature <= 0:
                if radii is None:
                    _shorten(C, B, j, s_min > 0, shortest)
                continue
            _target(G, C, B, j, x)
            if radii is not None:
                near_row(x, centers[j], radii[j], s_max, out, u)
            elif held is not None and band is not None and held[j]:
                plane_cone_row(x, T[j], s_max, out)
            elif held is not None and held[j]:
                plane_row(x, T[j], out)
            elif band is not None and (s_min > 0 or s_max < 1):
                band_row(x, s_min, s_max, out, u)
            else:
                for i in range(n):
                    out[i] = max(x[i], 0.0)
            change, total = _replace(B, j, out, s_min > 0, shortest)
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
    if np.min(s_max) < 1 and not held.any():
        return _run(G, C, B, Sets(s_max=s_max), sweeps, rtol)
    return _run(G, C, B, Sets(held, T, s_max=s_max), sweeps, rtol)


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
    begin = B if start is None else start
    return _run(G, C, begin, Sets(centers=B, radii=radii, s_max=s_max), sweeps, rtol)


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
    zero is only made ten times shorter, and stays as it is when it is next to nothing.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[3.0, 4.0]])
    >>> descend_band(np.eye(1), C, C, 1.0, 1.0, sweeps=1)
    array([[0., 4.]])
    """
    return _run(G, C, B, Sets(s_min=s_min, s_max=s_max), sweeps, rtol)[0]


def project_pieces(X: Array, sets: Sets) -> Array:
    """Project each row on its set, for `intersections`.

    Examples
    --------
    >>> import numpy as np
    >>> X, T = np.array([[3.0, 1.0]]), np.array([[-1.0, 1.0]])
    >>> project_pieces(X, Sets(np.array([True]), T))
    array([[2., 2.]])
    """
    return _run(np.empty((0, 0), X.dtype), X, np.zeros_like(X), sets, 1, 0.0)[0]


def _run(G: Array, C: Array, B: Array, sets: Sets, sweeps: int, rtol: float) -> tuple[Array, int]:
    """Sweep from B over the sets."""
    dtype = np.result_type(B, G, C)
    out = np.array(B, dtype=dtype, order="C")
    G, C = (np.require(X, dtype=dtype, requirements=["C", "W"]) for X in (G, C))
    limits = int(sweeps), float(rtol), next_to_nothing(dtype)
    return out, int(_descend(G, C, out, *sets.compiled(len(out), dtype), *limits))
