"""Every projection in one place; each works on the rows of an array and returns a new one.

The `*_row` functions are the compiled kernels behind them, for loops that are compiled themselves.
"""

from __future__ import annotations

from conicnmf.kernels.band import (
    band_row,
    cone_ratio,
    project_band,
    project_orthant_cone,
)
from conicnmf.kernels.cones import (
    cone_row,
    halfspace_cone_row,
    project_cone,
    project_halfspace_cone,
)
from conicnmf.kernels.direction import direction_row
from conicnmf.kernels.hoyer import hoyer_row, hoyer_sparseness, project_hoyer, sparseness_row
from conicnmf.kernels.norms import (
    l0_row,
    norm_ball_row,
    project_l0,
    project_norm_ball,
    project_unit_norm,
    unit_norm_row,
)
from conicnmf.kernels.planes import (
    plane_cone_row,
    plane_row,
    project_orthant_plane,
    project_orthant_plane_cone,
)
from conicnmf.kernels.simplex import l1_ball_row, project_l1_ball, project_simplex, simplex_row

__all__ = [
    "band_row",
    "cone_ratio",
    "cone_row",
    "direction_row",
    "halfspace_cone_row",
    "hoyer_row",
    "hoyer_sparseness",
    "l0_row",
    "l1_ball_row",
    "norm_ball_row",
    "plane_cone_row",
    "plane_row",
    "project_band",
    "project_cone",
    "project_halfspace_cone",
    "project_hoyer",
    "project_l0",
    "project_l1_ball",
    "project_norm_ball",
    "project_orthant_cone",
    "project_orthant_plane",
    "project_orthant_plane_cone",
    "project_simplex",
    "project_unit_norm",
    "simplex_row",
    "sparseness_row",
    "unit_norm_row",
]
