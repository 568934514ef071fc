"""Problems with one factor: ordinary problems with a gain or a self-fit, and methods of their own.

Maximize ½tr(WᵀAW) over W ≥ 0 (`QuadraticProjection`, `Discriminant`, `KernelDiscriminant`), or
minimize ‖V − WWᵀV‖² (`ProjectiveNMF`); after Yang and Laaksonen (2007).
"""

from conicnmf.families.one_factor.additive import NaturalGradient, Oja
from conicnmf.families.one_factor.cone_ascent import ConeAscent
from conicnmf.families.one_factor.direction_search import DirectionSearch
from conicnmf.families.one_factor.discriminant import Discriminant
from conicnmf.families.one_factor.flip import MedianFlip
from conicnmf.families.one_factor.kernel import KernelDiscriminant, kernel_fda
from conicnmf.families.one_factor.multiplicative import PlainSplit, ProjectionRule
from conicnmf.families.one_factor.online import HebbianStream, OnlineHebbian
from conicnmf.families.one_factor.projective import ProjectiveNMF
from conicnmf.families.one_factor.quadratic import QuadraticProjection
from conicnmf.families.one_factor.quasi_newton import ProjectiveQuasiNewton
from conicnmf.families.one_factor.reconstruct import ProjectedDescent, ProjectiveRule
from conicnmf.families.one_factor.separation import Separation
from conicnmf.model.operators import LowRank
from conicnmf.solve.methods.base import register_solvers

__all__ = [
    "ConeAscent",
    "DirectionSearch",
    "Discriminant",
    "HebbianStream",
    "KernelDiscriminant",
    "LowRank",
    "MedianFlip",
    "NaturalGradient",
    "Oja",
    "OnlineHebbian",
    "PlainSplit",
    "ProjectedDescent",
    "ProjectionRule",
    "ProjectiveNMF",
    "ProjectiveQuasiNewton",
    "ProjectiveRule",
    "QuadraticProjection",
    "Separation",
    "kernel_fda",
]

register_solvers(
    DirectionSearch,
    ConeAscent,
    Separation,
    ProjectiveQuasiNewton,
    ProjectiveRule,
    ProjectionRule,
    ProjectedDescent,
    OnlineHebbian,
    Oja,
    NaturalGradient,
    PlainSplit,
)
