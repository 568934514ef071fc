"""Problems with one factor, behind the same `solve`, results, comparisons and certificates.

Maximize ½tr(WᵀAW) over W ≥ 0 (`QuadraticProjection`, `Discriminant`, `KernelDiscriminant`), or
minimize ‖V − WWᵀV‖² (`ProjectiveNMF`); after Yang and Laaksonen (2007).
"""

from conicnmf.projections.additive import NaturalGradient, Oja
from conicnmf.projections.cone_ascent import ConeAscent
from conicnmf.projections.discriminant import Discriminant
from conicnmf.projections.flip import MedianFlip
from conicnmf.projections.kernel import KernelDiscriminant, kernel_fda
from conicnmf.projections.multiplicative import PlainSplit, ProjectionRule
from conicnmf.projections.online import HebbianStream, OnlineHebbian
from conicnmf.projections.projective import ProjectiveNMF
from conicnmf.projections.quadratic import QuadraticProjection
from conicnmf.projections.reconstruct import ProjectedDescent, ProjectiveRule

__all__ = [
    "ConeAscent",
    "Discriminant",
    "HebbianStream",
    "KernelDiscriminant",
    "MedianFlip",
    "NaturalGradient",
    "Oja",
    "OnlineHebbian",
    "PlainSplit",
    "ProjectedDescent",
    "ProjectionRule",
    "ProjectiveNMF",
    "ProjectiveRule",
    "QuadraticProjection",
    "kernel_fda",
]
