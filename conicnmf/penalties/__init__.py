"""Penalties: convex functions of one factor in the objective."""

from conicnmf.penalties.convex import ConvexPenalty
from conicnmf.penalties.powers import L1, L2
from conicnmf.penalties.sparseness_reward import SparsenessReward

__all__ = ["L1", "L2", "ConvexPenalty", "SparsenessReward"]
