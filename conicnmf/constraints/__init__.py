"""Constraints: the sets a factor may be asked to lie in."""

from conicnmf.constraints.convex import Convex
from conicnmf.constraints.entrywise import Box, Entrywise, Fixed, NonNegative
from conicnmf.constraints.labels import Labels
from conicnmf.constraints.norms import NormBall, UnitNorm
from conicnmf.constraints.simplex import Simplex
from conicnmf.constraints.sparseness import Sparseness

__all__ = [
    "Box",
    "Convex",
    "Entrywise",
    "Fixed",
    "Labels",
    "NonNegative",
    "NormBall",
    "Simplex",
    "Sparseness",
    "UnitNorm",
]
