"""Constraints: the sets a factor may be asked to lie in."""

from conicnmf.model.constraints.convex import Convex
from conicnmf.model.constraints.entrywise import Box, Entrywise, Fixed, NonNegative
from conicnmf.model.constraints.labels import Labels
from conicnmf.model.constraints.norm_in import NormIn
from conicnmf.model.constraints.norms import NormBall, UnitNorm
from conicnmf.model.constraints.orthonormal import Orthonormal
from conicnmf.model.constraints.simplex import Simplex
from conicnmf.model.constraints.sparseness import Sparseness

__all__ = [
    "Box",
    "Convex",
    "Entrywise",
    "Fixed",
    "Labels",
    "NonNegative",
    "NormBall",
    "NormIn",
    "Orthonormal",
    "Simplex",
    "Sparseness",
    "UnitNorm",
]
