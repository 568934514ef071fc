"""Losses: how far W H is from V."""

from conicnmf.model.losses.biconvex import Biconvex
from conicnmf.model.losses.frobenius import Frobenius
from conicnmf.model.losses.weighted import WeightedFrobenius

__all__ = ["Biconvex", "Frobenius", "WeightedFrobenius"]
