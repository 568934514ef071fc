"""Losses: how far a model is from the data."""

from conicnmf.model.losses.divergences import BetaDivergence, ItakuraSaito, KullbackLeibler
from conicnmf.model.losses.frobenius import Frobenius
from conicnmf.model.losses.logistic import Logistic
from conicnmf.model.losses.robust import Absolute, Huber
from conicnmf.model.losses.weighted import WeightedFrobenius

__all__ = [
    "Absolute",
    "BetaDivergence",
    "Frobenius",
    "Huber",
    "ItakuraSaito",
    "KullbackLeibler",
    "Logistic",
    "WeightedFrobenius",
]
