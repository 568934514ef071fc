"""Penalties: functions of one factor in the objective."""

from conicnmf.model.penalties.concave import ConcavePenalty
from conicnmf.model.penalties.concave_sparsity import CappedL1, LogSum
from conicnmf.model.penalties.convex import ConvexPenalty
from conicnmf.model.penalties.gain import Gain
from conicnmf.model.penalties.graph_laplacian import GraphLaplacian
from conicnmf.model.penalties.group_lasso import GroupLasso
from conicnmf.model.penalties.l21 import L21
from conicnmf.model.penalties.minimum_volume import MinimumVolume
from conicnmf.model.penalties.nonzeros import NonZeros
from conicnmf.model.penalties.nuclear import Nuclear
from conicnmf.model.penalties.powers import L1, L2
from conicnmf.model.penalties.self_fit import SelfFit
from conicnmf.model.penalties.smooth import Smooth
from conicnmf.model.penalties.sparseness_reward import SparsenessReward
from conicnmf.model.penalties.total_variation import TotalVariation

__all__ = [
    "L1",
    "L2",
    "L21",
    "CappedL1",
    "ConcavePenalty",
    "ConvexPenalty",
    "Gain",
    "GraphLaplacian",
    "GroupLasso",
    "LogSum",
    "MinimumVolume",
    "NonZeros",
    "Nuclear",
    "SelfFit",
    "Smooth",
    "SparsenessReward",
    "TotalVariation",
]
