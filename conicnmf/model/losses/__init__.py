"""Losses: how far a model is from the data."""

from conicnmf.model.losses.divergences import BetaDivergence, ItakuraSaito, KullbackLeibler
from conicnmf.model.losses.frobenius import Frobenius
from conicnmf.model.losses.weighted import WeightedFrobenius

__all__ = [
    "BetaDivergence",
    "Frobenius",
    "ItakuraSaito",
    "KullbackLeibler",
    "WeightedFrobenius",
]
