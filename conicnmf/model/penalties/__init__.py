"""Penalties: functions of one factor in the objective."""

from conicnmf.model.penalties.convex import ConvexPenalty
from conicnmf.model.penalties.gain import Gain
from conicnmf.model.penalties.powers import L1, L2
from conicnmf.model.penalties.self_fit import SelfFit
from conicnmf.model.penalties.sparseness_reward import SparsenessReward

__all__ = ["L1", "L2", "ConvexPenalty", "Gain", "SelfFit", "SparsenessReward"]
