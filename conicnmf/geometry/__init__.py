"""Sets with closed forms: their exact projections, one set a file, rows of an array at a time."""

from conicnmf.geometry.band import project_band, project_orthant_cone
from conicnmf.geometry.cones import (
    cone_ratio,
    distance_to_cone,
    project_cone,
    project_halfspace_cone,
    tangent_normals,
)
from conicnmf.geometry.hoyer import hoyer_sparseness, project_hoyer
from conicnmf.geometry.norms import project_l0, project_norm_ball, project_unit_norm
from conicnmf.geometry.simplex import project_l1_ball, project_simplex

__all__ = [
    "cone_ratio",
    "distance_to_cone",
    "hoyer_sparseness",
    "project_band",
    "project_cone",
    "project_halfspace_cone",
    "project_hoyer",
    "project_l0",
    "project_l1_ball",
    "project_norm_ball",
    "project_orthant_cone",
    "project_simplex",
    "project_unit_norm",
    "tangent_normals",
]
