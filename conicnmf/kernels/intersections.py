"""Projections onto the orthant with a sparseness cone and a half-space or a ball.

They are one sweep of the component-wise descent with the identity for a Gram matrix, so that the
compiled code is shared with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from conicnmf.geometry.rows import as_rows, per_row
from conicnmf.kernels.descent import Sets, project_pieces
from conicnmf.types import Array


def project_orthant_plane(X: ArrayLike, T: ArrayLike) -> Array:
    """Project each row x onto {w ≥ 0, ⟨t,w⟩ ≥ 0}, with t the same row of T (or its only row).

    Examples
    --------
    >>> project_orthant_plane([[1.0, 3.0], [1.0, 3.0]], [[1.0, -1.0], [-1.0, -1.0]])
    array([[2., 2.],
           [0., 0.]])
    """
    return project_orthant_plane_cone(X, T, 1.0)


def project_orthant_plane_cone(X: ArrayLike, T: ArrayLike, s_max: float) -> Array:
    """Project each row x onto {w ≥ 0, sp(w) ≤ s_max, ⟨t,w⟩ ≥ 0}, t the same row of T or its only one.

    Zero belongs to the set, and is its only point where no direction meets all three.

    Examples
    --------
    >>> project_orthant_plane_cone([[2.0, 0.0]], [[-1.0, 1.0]], 0.5)
    array([[1., 1.]])
    """
    rows = as_rows(X)
    held = np.ones(len(rows), dtype=bool)
    return project_pieces(rows, Sets(held, as_rows(T, like=rows), s_max=s_max))


def project_near(X: ArrayLike, P: ArrayLike, radii: ArrayLike, s_max: float = 1.0) -> Array:
    """Project each row of X onto {w ≥ 0, sp(w) ≤ s_max, ‖w − p‖ ≤ ρ}, p in the larger set.

    Examples
    --------
    >>> project_near(np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]]), 0.5)
    array([[1.5, 1. ]])
    """
    rows = as_rows(X)
    centers, radii = as_rows(P, like=rows), per_row(radii, len(rows))
    return project_pieces(rows, Sets(centers=centers, radii=radii, s_max=s_max))
