"""Every projection in one place; each works on the rows of an array and returns a new one."""

from __future__ import annotations

from conicnmf.kernels.band import cone_ratio, project_band, project_orthant_cone
from conicnmf.kernels.cones import project_cone, project_halfspace_cone
from conicnmf.kernels.hoyer import hoyer_sparseness, project_hoyer
from conicnmf.kernels.intersections import (
    project_near,
    project_orthant_plane,
    project_orthant_plane_cone,
)
from conicnmf.kernels.norms import project_l0, project_norm_ball, project_unit_norm
from conicnmf.kernels.simplex import project_l1_ball, project_simplex

__all__ = [
    "cone_ratio",
    "hoyer_sparseness",
    "project_band",
    "project_cone",
    "project_halfspace_cone",
    "project_hoyer",
    "project_l0",
    "project_l1_ball",
    "project_near",
    "project_norm_ball",
    "project_orthant_cone",
    "project_orthant_plane",
    "project_orthant_plane_cone",
    "project_simplex",
    "project_unit_norm",
]
