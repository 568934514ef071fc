"""Constraints: the sets a factor may be asked to lie in."""

from conicnmf.model.constraints.cardinality import Cardinality
from conicnmf.model.constraints.convex import Convex
from conicnmf.model.constraints.entrywise import Box, Entrywise, Fixed, NonNegative
from conicnmf.model.constraints.labels import Labels
from conicnmf.model.constraints.monotone import Monotone
from conicnmf.model.constraints.norm_in import NormIn
from conicnmf.model.constraints.norms import NormBall, UnitNorm
from conicnmf.model.constraints.on_part import OnPart
from conicnmf.model.constraints.orthogonal import Orthogonal
from conicnmf.model.constraints.orthonormal import Orthonormal
from conicnmf.model.constraints.reverse_convex import ReverseConvex
from conicnmf.model.constraints.simplex import Simplex
from conicnmf.model.constraints.sparseness import Sparseness
from conicnmf.model.constraints.unimodal import Unimodal
from conicnmf.model.constraints.whole import FactorNorm, FactorSum

__all__ = [
    "Box",
    "Cardinality",
    "Convex",
    "Entrywise",
    "FactorNorm",
    "FactorSum",
    "Fixed",
    "Labels",
    "Monotone",
    "NonNegative",
    "NormBall",
    "NormIn",
    "OnPart",
    "Orthogonal",
    "Orthonormal",
    "ReverseConvex",
    "Simplex",
    "Sparseness",
    "Unimodal",
    "UnitNorm",
]
