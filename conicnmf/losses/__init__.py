"""Losses: how far W H is from V."""

from conicnmf.losses.biconvex import Biconvex
from conicnmf.losses.frobenius import Frobenius
from conicnmf.losses.weighted import WeightedFrobenius

__all__ = ["Biconvex", "Frobenius", "WeightedFrobenius"]
