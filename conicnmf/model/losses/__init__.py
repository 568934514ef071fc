"""Losses: how far a model is from the data."""

from conicnmf.model.losses.frobenius import Frobenius
from conicnmf.model.losses.weighted import WeightedFrobenius

__all__ = ["Frobenius", "WeightedFrobenius"]
