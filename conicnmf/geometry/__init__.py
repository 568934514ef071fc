"""Sets and functions with closed forms, one a file: exact projections and proximal steps of rows."""

from conicnmf.geometry.band import project_band, project_orthant_cone
from conicnmf.geometry.bounded_simplex import project_bounded_simplex
from conicnmf.geometry.cones import (
    cone_ratio,
    distance_to_cone,
    project_cone,
    project_halfspace_cone,
    tangent_normals,
)
from conicnmf.geometry.differences import prox_differences
from conicnmf.geometry.groups import shrink_groups
from conicnmf.geometry.hoyer import hoyer_sparseness, project_hoyer
from conicnmf.geometry.isotonic import project_isotonic, project_unimodal
from conicnmf.geometry.norms import (
    project_l0,
    project_l0_within,
    project_norm_ball,
    project_unit_norm,
    project_unit_norm_within,
)
from conicnmf.geometry.nuclear import shrink_singular_values
from conicnmf.geometry.quadratics import prox_quadratic
from conicnmf.geometry.simplex import project_l1_ball, project_simplex
from conicnmf.geometry.total_variation import prox_total_variation

__all__ = [
    "cone_ratio",
    "distance_to_cone",
    "hoyer_sparseness",
    "project_band",
    "project_bounded_simplex",
    "project_cone",
    "project_halfspace_cone",
    "project_hoyer",
    "project_isotonic",
    "project_l0",
    "project_l0_within",
    "project_l1_ball",
    "project_norm_ball",
    "project_orthant_cone",
    "project_simplex",
    "project_unimodal",
    "project_unit_norm",
    "project_unit_norm_within",
    "prox_differences",
    "prox_quadratic",
    "prox_total_variation",
    "shrink_groups",
    "shrink_singular_values",
    "tangent_normals",
]
